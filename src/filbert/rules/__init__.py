"""Pure decisions: no I/O, no clock; `now` is an argument."""

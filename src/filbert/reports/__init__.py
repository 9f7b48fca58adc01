"""What reads: one file per command. Reports return values; the doors print them."""

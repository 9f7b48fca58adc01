"""How many requests may be in flight so that a fetch takes the bandwidth that it was given.

Guarantee: pure; never below one slot, never above the most; more only where there are queues that
could use them.
Source: Nutch `Fetcher.run` (`fetcher.bandwidth.target`).
"""

from __future__ import annotations

__all__ = ["slots_for"]


def slots_for(*, target: float, used: float, slots: int, most: int, queues: int) -> int:
    """Return how many slots there should be from now on.

    Args:
        target: Bits per second that the fetch should take.
        used: Bits per second that it took since the last look.
        slots: Slots that it had.
        most: Slots that it may have.
        queues: Requests that the queues could have in flight at once.
    """
    each = used / slots
    if each <= 0:
        return slots
    if used < target and queues <= slots:
        return slots  # nobody would use more
    more = max(-slots, min(most, (target - used) / each))  # before rounding: it may be infinite
    return max(1, min(most, slots + round(more)))

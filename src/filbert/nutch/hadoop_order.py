"""The order in which a job of Hadoop sees records of one key: that of its sort and its merge.

Guarantee: the order is the original's for what one map task holds in memory (100 MB by default):
Hadoop's quicksort is not stable, and its merge gives out equal keys as its heap happens to have
them. What prints a segment record by record needs both, so that a diff tells the truth.
Source: Hadoop `util.QuickSort`, `util.HeapSort`, `util.PriorityQueue`, `mapred.Merger`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["map_sorted", "merged"]

_Item = TypeVar("_Item")
_SMALL = 13


def map_sorted(items: Sequence[_Item], key: Callable[[_Item], bytes]) -> list[_Item]:
    """Return items, in the order a map task gave them out, as its sort orders them.

    (It notes them backwards in its buffer, and so the sort finds them.)
    """
    sorter = _QuickSort([(key(item), item) for item in reversed(items)])
    sorter.sort(0, len(items), _depth(len(items)))
    return [item for _, item in sorter.items]


def _depth(count: int) -> int:
    if count <= 0:
        return 0
    return (count - 1).bit_length() << 2


class _QuickSort(Generic[_Item]):
    def __init__(self, items: list[tuple[bytes, _Item]]) -> None:
        self.items = items

    def sort(self, first: int, end: int, depth: int) -> None:
        """Sort from `first` up to `end`."""
        while end - first >= _SMALL:
            depth -= 1
            if depth < 0:
                self._heapsort(first, end)
                return
            low, high = self._divided(first, end)
            if low - first < end - high:
                self.sort(first, low, depth)
                first = high
            else:
                self.sort(high, end, depth)
                end = low
        for i in range(first, end):
            j = i
            while j > first and self._above(j - 1, j):
                self._swap(j, j - 1)
                j -= 1

    def _divided(self, first: int, end: int) -> tuple[int, int]:
        """Bring what is less than the pivot before it; return where its equals begin and end."""
        middle = (first + end) >> 1
        for low, high in ((middle, first), (middle, end - 1), (first, end - 1)):
            if self._above(low, high):
                self._swap(low, high)
        i, j, left, right = first, end, first, end
        while True:
            i, left = self._past_less(i, j, left, first)
            j, right = self._past_more(i, j, right, first)
            if i >= j:
                break
            self._swap(i, j)
        j = i
        while left >= first:  # the pivot and its equals come into the middle
            i -= 1
            self._swap(left, i)
            left -= 1
        while right < end:
            self._swap(right, j)
            right += 1
            j += 1
        return i, j

    def _past_less(self, i: int, j: int, left: int, pivot: int) -> tuple[int, int]:
        """Go right past what is not above the pivot; its equals are put aside on the left."""
        i += 1
        while i < j and not self._above(i, pivot):
            if self.items[i][0] == self.items[pivot][0]:
                left += 1
                if left != i:
                    self._swap(left, i)
            i += 1
        return i, left

    def _past_more(self, i: int, j: int, right: int, pivot: int) -> tuple[int, int]:
        """Go left past what is not below the pivot; its equals are put aside on the right."""
        j -= 1
        while j > i and not self._above(pivot, j):
            if self.items[j][0] == self.items[pivot][0]:
                right -= 1
                if right != j:
                    self._swap(right, j)
            j -= 1
        return j, right

    def _heapsort(self, first: int, end: int) -> None:
        """Sort by a heap: what quicksort does when it has divided too often."""
        count = end - first
        level = 1 << (count.bit_length() - 1)
        while level > 1:
            for parent in range(level >> 1, level):
                self._sift(first - 1, parent, count + 1)
            level >>= 1
        for last in range(end - 1, first, -1):
            self._swap(first, last)
            self._sift(first - 1, 1, last - first + 1)

    def _sift(self, base: int, parent: int, end: int) -> None:
        while (child := parent << 1) < end:
            if child + 1 < end and self._above(base + child + 1, base + child):
                child += 1
            if not self._above(base + child, base + parent):
                return
            self._swap(base + parent, base + child)
            parent = child

    def _above(self, i: int, j: int) -> bool:
        return self.items[i][0] > self.items[j][0]

    def _swap(self, i: int, j: int) -> None:
        self.items[i], self.items[j] = self.items[j], self.items[i]


def merged(
    runs: Iterable[tuple[int, Iterable[_Item]]], key: Callable[[_Item], bytes]
) -> Iterator[_Item]:
    """Yield the items of sorted runs as `Merger` merges them: the smaller runs enter first.

    Args:
        runs: The bytes of each, and its items in order; one item of each is held.
        key: What they are ordered by.
    """
    heap: list[_Run[_Item]] = []
    for _, items in sorted(runs, key=lambda run: run[0]):
        run = _Run(iter(items), key)
        if run.advance():
            heap.append(run)
            _up(heap)
    while heap:
        top = heap[0]
        yield top.item
        if not top.advance():
            heap[0] = heap[-1]
            heap.pop()
        if heap:
            _down(heap)


class _Run(Generic[_Item]):
    """A run, and the item at which the merge stands in it."""

    item: _Item
    key: bytes

    def __init__(self, items: Iterator[_Item], key: Callable[[_Item], bytes]) -> None:
        self._items = items
        self._key = key

    def advance(self) -> bool:
        """Go to the next item; return whether there is one."""
        for item in self._items:
            self.item, self.key = item, self._key(item)
            return True
        return False


def _up(heap: list[_Run[_Item]]) -> None:
    i = len(heap)
    node = heap[-1]
    j = i >> 1
    while j > 0 and node.key < heap[j - 1].key:
        heap[i - 1] = heap[j - 1]
        i, j = j, j >> 1
    heap[i - 1] = node


def _down(heap: list[_Run[_Item]]) -> None:
    size, i, node = len(heap), 1, heap[0]
    j = _lesser(heap, 2, size)
    while j <= size and heap[j - 1].key < node.key:
        heap[i - 1] = heap[j - 1]
        i = j
        j = _lesser(heap, i << 1, size)
    heap[i - 1] = node


def _lesser(heap: list[_Run[_Item]], j: int, size: int) -> int:
    return j + 1 if j + 1 <= size and heap[j].key < heap[j - 1].key else j

"""Quantiles of many numbers in little memory, as `readdb -stats` reckons those of scores.

Guarantee: the same numbers as the original's for numbers added in the same order: a t-digest of
compression 100, packed and unpacked as often as Nutch's job does. Memory does not grow.
Source: T. Dunning, O. Ertl, "Computing extremely accurate quantiles using t-digests" (2019); the
library t-digest 3.3, `MergingDigest` with scale K_2; Nutch 1.22 `CrawlDbReader`.
"""

from __future__ import annotations

import math

from filbert.nutch.v1.java_text import nearest_float

__all__ = ["ScoreDigest"]

_COMPRESSION = 100.0
_CENTROIDS = 210  # twice the compression, and ten to spare
_BUFFER = 5 * _CENTROIDS
_INNER = math.sqrt(_BUFFER // _CENTROIDS - 1) * _COMPRESSION
"""While it grows, it keeps this much more than it shows."""


class ScoreDigest:
    """A digest of numbers that come one after the other."""

    def __init__(self) -> None:
        self._means: list[float] = []
        self._weights: list[float] = []
        self._waiting: list[float] = []
        self._merges = 0
        self._minimum, self._maximum = math.inf, -math.inf

    def add(self, value: float) -> None:
        """Add a number that is one."""
        if len(self._waiting) >= _BUFFER - len(self._means) - 1:
            self._merge(_INNER)
        self._waiting.append(value)
        self._minimum = min(self._minimum, value)
        self._maximum = max(self._maximum, value)

    def packed(self) -> ScoreDigest:
        """Return what comes out of the bytes that it is packed in: numbers of 32 bits."""
        self._merge(_COMPRESSION)  # once to know the size, once to write
        self._merge(_COMPRESSION)
        out = ScoreDigest()
        out._means = [nearest_float(mean) for mean in self._means]
        out._weights = [nearest_float(weight) for weight in self._weights]
        out._minimum, out._maximum = self._minimum, self._maximum
        return out

    def _merge(self, compression: float) -> None:
        """Sort what waits into the centroids; every other time from the upper end."""
        found = [(mean, 1.0) for mean in self._waiting]
        found += zip(self._means, self._weights, strict=True)
        if not found:
            return
        found.sort(key=lambda centroid: centroid[0])
        backwards = self._merges % 2 == 1
        if backwards:
            found.reverse()
        self._means, self._weights = _merged(found, compression)
        if backwards:
            self._means.reverse()
            self._weights.reverse()
        self._waiting = []
        self._merges += 1
        self._minimum = min(self._minimum, self._means[0])
        self._maximum = max(self._maximum, self._means[-1])

    def quantile(self, share: float) -> float:
        """Return the number that this share of all lies below; not a number without any."""
        if self._waiting:
            self._merge(_INNER)
        means, weights = self._means, self._weights
        if len(means) < 2:
            return means[0] if means else math.nan
        total = math.fsum(weights)
        index = share * total
        if index < 1:
            return self._minimum
        first, last = weights[0], weights[-1]
        if first > 1 and index < first / 2:
            part = (index - 1) / (first / 2 - 1)
            return self._minimum + part * (means[0] - self._minimum)
        if index > total - 1:
            return self._maximum
        if last > 1 and total - index <= last / 2:
            part = (total - index - 1) / (last / 2 - 1)
            return self._maximum - part * (self._maximum - means[-1])
        return self._between(index)

    def _between(self, index: float) -> float:
        means, weights = self._means, self._weights
        so_far = weights[0] / 2
        for i in range(len(means) - 1):
            width = (weights[i] + weights[i + 1]) / 2
            if so_far + width > index:
                left = right = 0.0
                if weights[i] == 1:
                    if index - so_far < 0.5:
                        return means[i]
                    left = 0.5
                if weights[i + 1] == 1:
                    if so_far + width - index <= 0.5:
                        return means[i + 1]
                    right = 0.5
                after = index - so_far - left
                before = so_far + width - index - right
                return _average(means[i], before, means[i + 1], after)
            so_far += width
        return self._maximum


def _merged(
    found: list[tuple[float, float]], compression: float
) -> tuple[list[float], list[float]]:
    """Return neighbours joined, as far as their place among all allows; never the outermost."""
    total = sum(weight for _, weight in found)
    normalizer = compression / (4 * math.log(total / compression) + 24)
    means, weights = [found[0][0]], [found[0][1]]
    so_far = 0.0
    for i, (mean, weight) in enumerate(found[1:], 1):
        proposed = weights[-1] + weight
        low, high = so_far / total, (so_far + proposed) / total
        most = total * min(low * (1 - low) / normalizer, high * (1 - high) / normalizer)
        if proposed <= most and 1 < i < len(found) - 1:
            weights[-1] += weight
            means[-1] += (mean - means[-1]) * weight / weights[-1]
        else:
            so_far += weights[-1]
            means.append(mean)
            weights.append(weight)
    return means, weights


def _average(one: float, weight: float, other: float, other_weight: float) -> float:
    """Return the weighted average of two numbers, never beyond them."""
    if one > other:
        one, weight, other, other_weight = other, other_weight, one, weight
    average = (one * weight + other * other_weight) / (weight + other_weight)
    return max(one, min(average, other))

"""The chain that a URL passes where it enters: normalisers, then filters.

Guarantee: the answer says what each plugin made of the URL and which rule decided. A plugin that
breaks is counted and its input goes on: a URL is never lost to an exception (NUTCH-3164). The
first filter that says no decides.
Source: Nutch `URLNormalizers`, `URLFilters`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from filbert.model.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filbert.plugins.contracts import Scope, UrlFilter, UrlNormalizer

__all__ = ["MALFORMED", "ChainStep", "ChainVerdict", "UrlChain"]

MALFORMED = "malformed"
"""Reason of a text that a normaliser says is no URL."""

_REMEMBERED = 16_384
_ACCEPTED = Verdict(accepted=True)


@dataclass(frozen=True, slots=True)
class ChainStep:
    """What one plugin made of the URL; a normaliser's verdict is None."""

    plugin: str
    input: str
    output: str | None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """What the chain made of a URL: None as `url` means rejected, for `reason` and by `rule`."""

    url: str | None
    reason: str = ""
    rule: str = ""
    steps: tuple[ChainStep, ...] = ()


class UrlChain:
    """Normalisers and filters in the order of the settings.

    Attributes:
        errors: Exceptions of plugins so far, by plugin name.

    Args:
        normalizers: The normalisers, in order.
        filters: The filters, in order.
        loop_count: How often the normalisers run at most, until nothing changes.
    """

    def __init__(
        self,
        normalizers: Sequence[UrlNormalizer],
        filters: Sequence[UrlFilter],
        *,
        loop_count: int = 1,
    ) -> None:
        self.errors: Counter[str] = Counter()
        self._normalizers = tuple(normalizers)
        self._filters = tuple(filters)
        self._loop_count = loop_count
        self._work = self._run if self.fingerprint() is None else lru_cache(_REMEMBERED)(self._run)

    def apply(
        self, url: str, scope: Scope, *, normalize: bool = True, judge: bool = True
    ) -> ChainVerdict:
        """Return the URL in normal form, or why it is rejected."""
        return self._work(url, scope, normalize, judge)

    def normalize(self, url: str, scope: Scope) -> str | None:
        """Return the URL in normal form; None if it is none."""
        return self.apply(url, scope, judge=False).url

    def judge(self, url: str) -> Verdict:
        """Return the verdict of the first filter that says no, or yes."""
        return self._judge(url, [])

    def fingerprint(self) -> str | None:
        """Return a text that is equal only when all answers are; None if a plugin cannot tell."""
        plugins: list[UrlNormalizer | UrlFilter] = [*self._normalizers, *self._filters]
        prints = []
        for plugin in plugins:
            one = plugin.fingerprint()
            if one is None:
                return None
            prints.append(f"{plugin.name}={one}")
        return f"loops={self._loop_count};" + ";".join(prints)

    def _run(self, url: str, scope: Scope, normalize: bool, judge: bool) -> ChainVerdict:  # noqa: FBT001
        steps: list[ChainStep] = []
        normal: str | None = self._normalize(url, scope, steps) if normalize else url
        if not normal:
            rule = f"normalizer {steps[-1].plugin}" if steps else "empty"
            return ChainVerdict(None, MALFORMED, rule, tuple(steps))
        if not judge:
            return ChainVerdict(normal, steps=tuple(steps))
        verdict = self._judge(normal, steps)
        if verdict.accepted:
            return ChainVerdict(normal, rule=verdict.rule, steps=tuple(steps))
        return ChainVerdict(None, verdict.reason, verdict.rule, tuple(steps))

    def _normalize(self, url: str, scope: Scope, steps: list[ChainStep]) -> str | None:
        for _ in range(self._loop_count):
            before = url
            for plugin in self._normalizers:
                normal = self._asked_normalizer(plugin, url, scope)
                steps.append(ChainStep(plugin.name, url, normal))
                if not normal:
                    return None
                url = normal
            if url == before:
                break
        return url

    def _judge(self, url: str, steps: list[ChainStep]) -> Verdict:
        verdict = _ACCEPTED
        for plugin in self._filters:
            verdict = self._asked_filter(plugin, url)
            output = url if verdict.accepted else None
            steps.append(ChainStep(plugin.name, url, output, verdict))
            if not verdict.accepted:
                return verdict if verdict.reason else _named(verdict, plugin.name)
        return verdict

    def _asked_normalizer(self, plugin: UrlNormalizer, url: str, scope: Scope) -> str | None:
        try:
            return plugin.normalize(url, scope)
        except Exception:  # noqa: BLE001 - a stranger's code; counted, and the URL goes on
            self.errors[plugin.name] += 1
            return url

    def _asked_filter(self, plugin: UrlFilter, url: str) -> Verdict:
        try:
            return plugin.judge(url)
        except Exception as error:  # noqa: BLE001 - a stranger's code; counted, and the URL stays
            self.errors[plugin.name] += 1
            return Verdict(accepted=True, reason="error", rule=f"{type(error).__name__}: {error}")


def _named(verdict: Verdict, name: str) -> Verdict:
    return Verdict(accepted=verdict.accepted, reason=name, rule=verdict.rule)

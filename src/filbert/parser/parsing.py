"""One page through the parsers and parse filters.

Guarantee: always a result. A parser that breaks gives a failed parse with the reason and the next
one is tried; a parse filter that breaks is counted and the parse goes on without it.
Source: Nutch `ParseUtil`, `ParserFactory`, `ParseSegment`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from filbert.model.records import Page, Parse
from filbert.model.statuses import ParseMajor, ParseMinor
from filbert.rules.mime import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filbert.parser.jobs import ParseJob
    from filbert.plugins.contracts import Parser
    from filbert.plugins.registry import PluginRepository
    from filbert.settings import Settings

__all__ = ["PageParser", "Parsed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A page's parses, the first of them the page's own, and who made them."""

    page: Page
    parses: tuple[Parse, ...]
    parser: str | None
    signatures: tuple[bytes, ...]
    errors: Counter[str]


class PageParser:
    """Parses pages by the settings of a crawl."""

    def __init__(self, settings: Settings, plugins: PluginRepository) -> None:
        self._magic = settings.parse.mime_magic
        self._parsers = plugins.parsers()
        self._filters = plugins.parse_filters()
        self._signature = plugins.signature()
        self._skip_truncated = settings.parse.skip_truncated

    def parse(self, job: ParseJob) -> Parsed:
        """Return the parses of a page; a failed one if no parser could."""
        page = Page(
            url=job.url,
            base_url=job.base_url,
            body=job.body,
            content_type=type_of(job.declared_type, job.base_url, job.body, magic=self._magic),
            headers=job.headers,
            fetch_time=job.fetch_time,
            truncated=job.truncated,
        )
        errors: Counter[str] = Counter()
        if job.truncated and self._skip_truncated:
            message = f"cut off ({job.truncated}), and parse.skip_truncated is set"
            skipped = Parse(
                major=ParseMajor.NOTPARSED, minor=ParseMinor.FAILED_TRUNCATED, message=message
            )
            return self._finished(page, (skipped,), None, errors)
        parser, parses = self._parsed(page)
        filtered = tuple(self._filtered(page, parse, errors) for parse in parses)
        return self._finished(page, filtered, parser, errors)

    def given_up(self, job: ParseJob, minor: ParseMinor, message: str) -> Parsed:
        """Return the failed parse of a page whose process did not live to answer."""
        page = Page(
            url=job.url,
            base_url=job.base_url,
            body=job.body,
            content_type=job.known_type or "",
            headers=job.headers,
            fetch_time=job.fetch_time,
            truncated=job.truncated,
        )
        return self._finished(page, (failed(message, minor),), None, Counter())

    def _parsed(self, page: Page) -> tuple[str | None, Sequence[Parse]]:
        chosen = [one for one in self._parsers if _takes(one, page.content_type)]
        if not chosen:
            return None, (failed(f"no parser for {page.content_type}"),)
        result: tuple[str | None, Sequence[Parse]] = (None, ())
        for parser in chosen:
            result = (parser.name, _attempt(parser, page))
            if any(parse.major is ParseMajor.SUCCESS for parse in result[1]):
                break
        return result

    def _filtered(self, page: Page, parse: Parse, errors: Counter[str]) -> Parse:
        if parse.major is not ParseMajor.SUCCESS:
            return parse
        for plugin in self._filters:
            try:
                parse = plugin.filter(page, parse)
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 - a stranger's code; counted, the parse goes on
                errors[f"error_{plugin.name}"] += 1
        return parse

    def _finished(
        self, page: Page, parses: tuple[Parse, ...], parser: str | None, errors: Counter[str]
    ) -> Parsed:
        signatures = tuple(self._signature.calculate(page, parse) for parse in parses)
        return Parsed(page=page, parses=parses, parser=parser, signatures=signatures, errors=errors)


def failed(message: str, minor: ParseMinor = ParseMinor.FAILED_EXCEPTION) -> Parse:
    """Return an empty parse that says why there is none."""
    return Parse(major=ParseMajor.FAILED, minor=minor, message=message)


def _takes(parser: Parser, content_type: str) -> bool:
    return any(
        pattern in {content_type, "*"} or fnmatchcase(content_type, pattern)
        for pattern in parser.content_types
    )


def _attempt(parser: Parser, page: Page) -> Sequence[Parse]:
    try:
        parses = parser.parse(page)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's code; it becomes a failed parse
        return (failed(f"parser {parser.name}: {type(error).__name__}: {error}"),)
    return parses or (failed(f"parser {parser.name} gave nothing"),)

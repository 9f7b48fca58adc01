"""Settings of URL normalisers and filters: the chains and their rules.

Source: Nutch's `urlnormalizer.*` and `urlfilter.*`. Rule files are Nutch's, unchanged.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from filbert.settings.base import Names, PathOf, Section

__all__ = ["UrlsSettings"]


class UrlsSettings(Section):
    """Which URLs are one, and which are wanted."""

    normalizers: Names = Field(("basic", "regex"), description="The normalisers, in order.")
    filters: Names = Field(("regex",), description="The filters, in order; the first no decides.")
    loop_count: int = Field(
        1, ge=1, description="Times the normalisers run at most, until nothing changes."
    )
    regex_filter_file: Annotated[str, PathOf("regex-urlfilter.txt")] = Field(
        "", description="Rules `+regex`, `-regex` of the regex filter; blank: the built-in ones."
    )
    regex_filter_rules: str = Field(
        "", description="The same rules, inline; they go before the file."
    )
    prefix_filter_file: Annotated[str, PathOf("prefix-urlfilter.txt")] = Field(
        "", description="One wanted beginning of a URL per line."
    )
    prefix_filter_rules: str = Field("", description="The same, inline.")
    suffix_filter_file: Annotated[str, PathOf("suffix-urlfilter.txt")] = Field(
        "", description="`+` or `-`, then one ending of a URL per line."
    )
    suffix_filter_rules: str = Field("", description="The same, inline.")
    domain_filter_file: Annotated[str, PathOf("domain-urlfilter.txt")] = Field(
        "", description="One wanted suffix, domain or host per line."
    )
    domain_filter_rules: str = Field("", description="The same, inline.")
    domaindenylist_filter_file: Annotated[str, PathOf("domaindenylist-urlfilter.txt")] = Field(
        "", description="One unwanted suffix, domain or host per line."
    )
    domaindenylist_filter_rules: str = Field("", description="The same, inline.")
    regex_normalize_file: Annotated[str, PathOf("regex-normalize.xml")] = Field(
        "", description="Patterns and substitutions of the regex normaliser; blank: the built-in."
    )
    regex_normalize_rules: str = Field("", description="The same XML, inline.")
    host_idn: Literal["", "toAscii", "toUnicode"] = Field(
        "", description="basic: spell international hosts in ASCII or in Unicode; blank: as found."
    )
    host_idna2008: bool = Field(
        default=False, description="basic: convert by IDNA2008 instead of IDNA2003."
    )
    host_trim_trailing_dot: bool = Field(
        default=False, description="basic: drop the dot at the end of a host."
    )

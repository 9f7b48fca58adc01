"""Settings of content signatures. Source: Nutch's `db.signature.*`."""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import Section

__all__ = ["SignatureSettings"]


class SignatureSettings(Section):
    """How it is told that two contents are the same."""

    name: str = Field(
        "md5", description="The signature: `md5`, `text-md5`, `text-profile`, or a plugin's."
    )
    min_token_len: int = Field(
        2, ge=0, description="text-profile: tokens must be longer than this, in characters."
    )
    quant_rate: float = Field(0.01, ge=0, description="text-profile: quantisation of the counts.")
    sec_sort_lex: bool = Field(
        default=True, description="text-profile: order tokens of equal count by name."
    )

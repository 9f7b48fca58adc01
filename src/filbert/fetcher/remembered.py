"""What a part remembers of its hosts: of earlier rounds (hostdb), of before a stop (journal).

Guarantee: the journal, being younger, goes before the hostdb. After a stop nothing is trusted to
the second: every host, known or not, counts as asked just now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.fetcher.capture import target_item
from filbert.model.hosts import HostState
from filbert.model.records import FetchItem
from filbert.rules.redirects import Redirect, RedirectVerdict
from filbert.rules.urls import choose_repr
from filbert.store.parquet import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from filbert.engine.base import Files
    from filbert.model.records import FetchRecord

__all__ = ["RememberedHosts", "item_of_record", "pending_redirects", "redirect_of"]


class RememberedHosts:
    """Host states by key.

    Args:
        hostdb: What earlier rounds left.
        journal: What this part noted before a stop; grows while it runs.
        resumed_at: When the part goes on after a stop, epoch ms; None: it was never stopped.
    """

    def __init__(
        self, hostdb: Files, journal: Mapping[str, HostState], resumed_at: int | None
    ) -> None:
        self._hostdb = {row["host"]: HostState(**row) for row in read_rows(hostdb)}
        self._journal = journal
        self._resumed_at = resumed_at

    def get(self, key: str) -> HostState | None:
        """Return what is known of a key; None: nothing."""
        known = self._journal.get(key) or self._hostdb.get(key)
        if known is None and self._resumed_at is not None:
            return HostState(host=key, last_request_end=self._resumed_at)
        return known


def redirect_of(record: FetchRecord) -> Redirect:
    """Return the redirect that a row of crawl_fetch tells of."""
    assert record.redirect_url is not None
    temporary = record.status.label == "fetch_redir_temp"
    source = record.datum.repr_url or record.url
    return Redirect(
        verdict=RedirectVerdict.FOLLOWED,
        url=record.redirect_url,
        repr_url=choose_repr(source, record.redirect_url, temporary=temporary),
    )


def pending_redirects(records: Iterable[FetchRecord]) -> tuple[FetchItem, ...]:
    """Return the targets of redirects that were followed and have no row of their own."""
    return tuple(target_item(item_of_record(record), redirect_of(record)) for record in records)


def item_of_record(record: FetchRecord) -> FetchItem:
    """Return what was fetched when a row of crawl_fetch was made."""
    return FetchItem(
        url=record.url,
        host=record.host,
        domain=record.domain,
        part=record.part,
        position=record.position,
        datum=record.datum,
        hop=record.hop,
        raw_url=record.raw_url,
    )

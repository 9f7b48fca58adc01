"""`explain`: all that is known of a URL, in the order in which a person asks.

Guarantee: a pure function of the facts. First the answer in a few sentences, then what the rules
say now, what happened in order of time, when it is fetched next, its links, and the index. Each
statement has a plain sentence for people and named values for programs. What is not known is
said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.rules.explain_answer import answer, rules_now
from filbert.rules.explain_history import history
from filbert.rules.explain_state import index_state, links, next_fetch

if TYPE_CHECKING:
    from filbert.rules.explain_facts import Facts, Statement

__all__ = ["explain"]


def explain(facts: Facts) -> list[Statement]:
    """Return everything that can be said, part by part."""
    return [
        *answer(facts),
        *rules_now(facts),
        *history(facts),
        *next_fetch(facts),
        *links(facts),
        *index_state(facts),
    ]

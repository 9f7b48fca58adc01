"""What the shared SQL cannot say: the engine functions, defined for both engines on one page.

Guarantee: a function gives the same value on DuckDB and on Spark (tests/contracts holds them side
by side). There are at most ten; a new one must be unsayable in the SQL that both engines share.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FUNCTIONS", "EngineFunction", "duckdb_statements", "spark_statements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFunction:
    """One function: what it means, and its body for each engine (blank: the engine has it)."""

    name: str
    meaning: str
    parameters: tuple[tuple[str, str], ...]
    returns: str
    duckdb: str
    spark: str


_MAP = "map<string,string>"
_ESCAPE = "'%[0-9A-Fa-f][0-9A-Fa-f]'"

FUNCTIONS = (
    EngineFunction(
        name="url_hash",
        meaning="First 8 hex digits of md5(text), as a number from 0 to 2^32 - 1.",
        parameters=(("text", "string"),),
        returns="bigint",
        duckdb="cast('0x' || substr(md5(text), 1, 8) as bigint)",
        spark="cast(conv(substr(md5(text), 1, 8), 16, 10) as bigint)",
    ),
    EngineFunction(
        name="int_div",
        meaning="a divided by b, rounded towards zero; null when b is 0.",
        parameters=(("a", "bigint"), ("b", "bigint")),
        returns="bigint",
        duckdb="cast(cast(a as bigint) // nullif(cast(b as bigint), 0) as bigint)",
        spark="a div nullif(b, 0)",
    ),
    EngineFunction(
        name="empty_map",
        meaning="A map<string,string> with no entries.",
        parameters=(),
        returns=_MAP,
        duckdb="cast(map {} as map(varchar, varchar))",
        spark="cast(map() as map<string,string>)",
    ),
    EngineFunction(
        name="map_overlay",
        meaning="The entries of both maps, those of `new` winning; a null map counts for nothing.",
        parameters=(("old", _MAP), ("new", _MAP)),
        returns=_MAP,
        duckdb="case when new is null then old when old is null then new"
        " else map_concat(old, new) end",
        spark="case when new is null then old when old is null then new"
        " else map_concat(old, new) end",  # with spark.sql.mapKeyDedupPolicy=LAST_WIN
    ),
    EngineFunction(
        name="map_without",
        meaning="The map less the entry of `entry_key`; null stays null.",
        parameters=(("entries", _MAP), ("entry_key", "string")),
        returns=_MAP,
        duckdb="map_from_entries(list_filter(map_entries(entries), lambda e: e.key <> entry_key))",
        spark="map_filter(entries, (k, v) -> k <> entry_key)",
    ),
    EngineFunction(
        name="types_overlay",
        meaning="metadata_types after `entries`, whose types are `new`, were laid over metadata"
        " whose types were `old`: an entry without a type is text, whatever it was before.",
        parameters=(("old", _MAP), ("entries", _MAP), ("new", _MAP)),
        returns=_MAP,
        duckdb="case when old is null then new when entries is null then old"
        " else map_concat(map_from_entries(list_filter(map_entries(old),"
        " lambda e: not map_contains(entries, e.key))),"
        " coalesce(new, cast(map {} as map(varchar, varchar)))) end",
        spark="case when old is null then new when entries is null then old"
        " else map_concat(map_filter(old, (k, v) -> not map_contains_key(entries, k)),"
        " coalesce(new, cast(map() as map<string,string>))) end",
    ),
    EngineFunction(
        name="percent_decode",
        meaning="Percent-decoded text (a plus stays a plus); what is not UTF-8 or badly escaped"
        " comes back as it is.",
        parameters=(("text", "string"),),
        returns="string",
        duckdb="case when instr(regexp_replace(text, " + _ESCAPE + ", '', 'g'), '%') > 0"
        " then text else coalesce(try(url_decode(text)), text) end",
        spark="case when instr(regexp_replace(text, " + _ESCAPE + ", ''), '%') > 0 then text"
        " when instr(url_decode(replace(text, '+', '%2B')), '\ufffd') > 0 then text"
        " else url_decode(replace(text, '+', '%2B')) end",
    ),
    EngineFunction(
        name="percentile",
        meaning="Aggregate: the interpolated quantile q (0 to 1) of x.",
        parameters=(("x", "double"), ("q", "double")),
        returns="double",
        duckdb="quantile_cont(cast(x as double), q)",
        spark="",
    ),
)


def duckdb_statements() -> tuple[str, ...]:
    """Return the statements that make the functions known to a DuckDB connection."""
    return tuple(
        f"create or replace temp macro {function.name}"
        f"({', '.join(name for name, _ in function.parameters)}) as {function.duckdb}"
        for function in FUNCTIONS
    )


def spark_statements() -> tuple[str, ...]:
    """Return the statements that make them known to a Spark session; its own are left alone."""
    return tuple(
        f"create or replace temporary function {function.name}"
        f"({', '.join(f'{name} {kind}' for name, kind in function.parameters)})"
        f" returns {function.returns} return {function.spark}"
        for function in FUNCTIONS
        if function.spark
    )

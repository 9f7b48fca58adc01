"""`filbert robots`: what robots.txt says of URLs, and by which line."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from filbert.cli.escape import printable
from filbert.cli.options import common_options, format_option, read_settings, urls_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filbert.fetcher.robots_check import RobotsAnswer
    from filbert.settings import Settings

__all__ = ["command"]

_COLUMNS = (
    "url",
    "allowed",
    "rule",
    "group",
    "robots_url",
    "http_status",
    "crawl_delay_ms",
    "sitemaps",
    "uses",
    "protocol",
)
_SIGNS = {True: "+", False: "-", None: "?"}


@click.command()
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option(
    "--file",
    "robots_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Judge by this robots.txt; no host is asked.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    help="Judge for a robot of this name; without it for http.agent_name and http.robots_agents.",
)
@click.option(
    "--crawl-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Take settings from here; without it from the current folder.",
)
@common_options
@format_option()
def command(
    urls: tuple[str, ...],
    robots_file: Path | None,
    agents: tuple[str, ...],
    crawl_dir: Path,
    overrides: tuple[str, ...],
    form: str,
) -> None:
    r"""Say of each URL whether robots.txt lets it be fetched, by which line of which file.

    Without URL: of each line of the standard input. The robots.txt of each host is asked for, once
    and politely, as a fetch does; what a crawl has noted, `filbert explain` tells. A line of the
    answer is + (allowed), - (forbidden) or ? (no answer: the host would be asked again later) and
    the URL, a TAB, and the rule.

    \b
    filbert robots https://example.org/a https://example.org/b -D http.agent_name=my-robot
    filbert robots --file robots.txt --agent googlebot https://example.org/private/
    """
    from filbert.cli.output import print_rows
    from filbert.fetcher.robots_check import answer_by_file

    settings = read_settings(crawl_dir, overrides)
    answers: Iterator[RobotsAnswer] = _asked(settings, crawl_dir, agents, urls_of(urls))
    if robots_file is not None:
        body = robots_file.read_bytes()
        answers = (answer_by_file(body, url, settings, agents) for url in urls_of(urls))
    if form != "table":
        print_rows(map(asdict, answers), form, _COLUMNS)
        return
    for answer in answers:
        click.echo(printable(_line(answer)))


def _asked(
    settings: Settings, folder: Path, agents: tuple[str, ...], urls: Iterator[str]
) -> Iterator[RobotsAnswer]:
    """Yield the answers as they come."""
    from filbert.fetcher.robots_check import RobotsCheck
    from filbert.model.clock import SystemClock
    from filbert.plugins.registry import PluginRepository

    protocols = PluginRepository(settings, folder).protocols()
    check = RobotsCheck(settings, protocols, clock=SystemClock(), agents=agents)
    with asyncio.Runner() as runner:
        runner.run(check.__aenter__())
        try:
            for url in urls:
                yield runner.run(check.answer(url))
        finally:
            runner.run(check.__aexit__(None, None, None))


def _line(answer: RobotsAnswer) -> str:
    where = f" in {answer.robots_url}" if answer.robots_url and answer.allowed is not None else ""
    group = f", for {answer.group}" if answer.group else ""
    delay = answer.crawl_delay_ms
    wait = f"; Crawl-delay {delay / 1000:g} s" if delay else ""
    uses = f"; {'; '.join(answer.uses)}" if answer.uses else ""
    return f"{_SIGNS[answer.allowed]}{answer.url}\t{answer.rule}{group}{where}{wait}{uses}"

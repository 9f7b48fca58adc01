"""The guarded process of a worker: kept between parts, and never longer than it may be."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from filbert.parser import kept
from filbert.parser.jobs import PageRows, ParseJob, ParseOptions
from filbert.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _options(folder: Path, timeout_s: int = 5) -> ParseOptions:
    settings = Settings.model_validate({"parse": {"timeout_s": timeout_s}})
    return ParseOptions(settings=settings, folder=folder)


def _job(word: str) -> ParseJob:
    return ParseJob(
        url=f"http://a.com/{word}",
        base_url=f"http://a.com/{word}",
        body=word.encode(),
        declared_type="text/plain",
        headers={},
        fetch_time=0,
    )


def _part(options: ParseOptions, *, fail: bool = False) -> int:
    """Parse one page; return the number of the process that did it."""
    with kept.guarded_parser(options) as parser:
        ((_, rows),) = parser.parse([_job("page")])
        assert isinstance(rows, PageRows)
        assert parser.pid is not None
        pid = parser.pid
        if fail:
            raise ValueError
    return pid


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """This process as a worker of the pool."""
    with ExitStack() as stack:
        monkeypatch.setattr(kept, "lifetime", lambda: stack)
        yield stack


@pytest.mark.slow
def test_outside_a_worker_each_part_has_its_own(tmp_path: Path) -> None:
    """The process ends with the part where no worker would end it."""
    options = _options(tmp_path)
    with kept.guarded_parser(options) as parser:
        list(parser.parse([_job("page")]))
        assert parser.pid is not None
    assert parser.pid is None


@pytest.mark.slow
def test_a_worker_keeps_it_for_the_same_settings(tmp_path: Path, worker: ExitStack) -> None:
    """Parts of the same settings share the process; others get a new one; it ends with us."""
    first = _part(_options(tmp_path))
    assert _part(_options(tmp_path)) == first
    assert _part(_options(tmp_path, timeout_s=6)) != first
    with kept.guarded_parser(_options(tmp_path, timeout_s=6)) as parser:
        pass
    worker.close()
    assert parser.pid is None


@pytest.mark.slow
def test_an_error_ends_it(tmp_path: Path, worker: ExitStack) -> None:
    """What was in the middle of an answer is not asked again."""
    first = _part(_options(tmp_path))
    with pytest.raises(ValueError, match=r"^$"):
        _part(_options(tmp_path), fail=True)
    assert _part(_options(tmp_path)) != first
    worker.close()

"""The guarded process: one bad document costs itself alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import EngineError
from filbert.parser.guard import GuardedParser
from filbert.parser.jobs import Failure, PageRows, ParseJob, ParseOptions
from filbert.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = '''
import os, signal
from filbert.model.records import Parse

class Hostile:
    """Does to its process what the page says."""
    name = "hostile"
    content_types = ("text/*",)

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    def parse(self, page):
        print("noise on the standard output")
        word = page.body.decode()
        if word == "hang":
            while True:
                pass
        if word == "eat":
            bytearray(1 << 40)
        if word == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        return [Parse(title=word)]

PLUGINS = {"parsers": [Hostile]}
'''


def _job(word: str) -> ParseJob:
    return ParseJob(
        url=f"http://a.com/{word}",
        base_url=f"http://a.com/{word}",
        body=word.encode(),
        declared_type="text/plain",
        headers={},
        fetch_time=0,
    )


def _options(folder: Path, text: str = HOSTILE) -> ParseOptions:
    (folder / "hostile.py").write_text(text)
    return ParseOptions(
        settings=Settings.model_validate(
            {
                "plugins": {"files": ("./hostile.py",)},
                "parse": {"parsers": ("hostile",), "timeout_s": 1, "memory_limit_mb": 256},
            }
        ),
        folder=folder,
    )


@pytest.mark.slow
def test_a_bad_document_costs_itself_alone(tmp_path: Path) -> None:
    """Time, memory and crashes fail the document with the reason; all others are parsed."""
    words = ["one", "hang", "two", "eat", "three", "crash", "four"]
    said = []
    with GuardedParser(_options(tmp_path)) as guarded:
        for job, answer in guarded.parse(map(_job, words)):
            if isinstance(answer, Failure):
                said.append((job.body.decode(), answer.counter, answer.message))
            else:
                said.append((job.body.decode(), "", answer.parse_data[0]["title"]))
        process = guarded._process
    assert said == [
        ("one", "", "one"),
        ("hang", "time_limit", "time limit of 1 s"),
        ("two", "", "two"),
        ("eat", "memory_limit", "memory limit of 256 MB"),
        ("three", "", "three"),
        ("crash", "crashed", "the parsing process died (SIGSEGV)"),
        ("four", "", "four"),
    ]
    assert process is not None
    assert process.poll() is not None


@pytest.mark.slow
def test_a_last_document_that_kills_leaves_nothing_open(tmp_path: Path) -> None:
    """A batch that ends in a killer is answered whole, and the next one goes to a new process."""
    words = [*(f"w{n}" for n in range(31)), "crash", "after"]
    with GuardedParser(_options(tmp_path)) as guarded:
        answers = [answer for _, answer in guarded.parse(map(_job, words))]
    assert [isinstance(answer, PageRows) for answer in answers] == [True] * 31 + [False, True]


@pytest.mark.slow
def test_a_process_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    """A plugin that cannot be loaded stops the step, not each page."""
    options = _options(tmp_path, "raise RuntimeError('broken on import')")
    with (
        pytest.raises(EngineError, match="does not start"),
        GuardedParser(options) as guarded,
    ):
        list(guarded.parse([_job("x")]))


def test_no_jobs_no_process(tmp_path: Path) -> None:
    """A part without pages starts nothing."""
    with GuardedParser(_options(tmp_path)) as guarded:
        assert list(guarded.parse([])) == []
        assert guarded._process is None

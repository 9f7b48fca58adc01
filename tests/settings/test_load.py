"""The layers of settings, their order, and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from filbert.errors import UserError
from filbert.settings import Settings, load_settings
from filbert.settings.catalog import catalog
from filbert.settings.generate import GenerateSettings
from filbert.settings.schedule import ScheduleSettings

if TYPE_CHECKING:
    from pathlib import Path


def _write(folder: Path, text: str) -> Path:
    (folder / "filbert.toml").write_text(text, encoding="utf-8")
    return folder


def test_defaults_hold_without_any_layer(tmp_path: Path) -> None:
    """A crawl folder without a settings file has the defaults, and says so."""
    loaded = load_settings(tmp_path)

    assert loaded.settings == Settings()
    assert set(loaded.provenance) == set(catalog())
    assert str(loaded.provenance["fetcher.threads"]) == "default"


def test_layers_go_file_environment_command_line(tmp_path: Path) -> None:
    """A later layer wins, and the provenance names it."""
    folder = _write(tmp_path, "[fetcher]\nthreads = 2\nserver_delay_s = 1\nparse = true\n")
    environ = {"FILBERT_FETCHER__THREADS": "3", "FILBERT_FETCHER__SERVER_DELAY_S": "2"}

    loaded = load_settings(folder, ["fetcher.threads=4"], environ)

    got = loaded.settings.fetcher
    assert (got.threads, got.server_delay_s, got.parse) == (4, 2.0, True)
    assert [
        str(loaded.provenance[f"fetcher.{name}"]) for name in ("threads", "server_delay_s", "parse")
    ] == [
        "command line: -D fetcher.threads",
        "environment: FILBERT_FETCHER__SERVER_DELAY_S",
        "file: filbert.toml line 4",
    ]


def test_a_number_that_is_too_wide_is_refused_by_a_section_too() -> None:
    """Who makes settings in code meets the bounds that the layers have; 30 days in ms are fine."""
    with pytest.raises(ValidationError, match="at most 2147483647"):
        ScheduleSettings(interval_default_s=2**31)
    assert GenerateSettings(gen_delay_ms=30 * 86_400_000).gen_delay_ms == 2_592_000_000


def test_settings_are_frozen() -> None:
    """Nothing changes after the start of a command."""
    with pytest.raises(ValidationError):
        Settings().fetcher.threads = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("fetcher.thread=7", "Did you mean fetcher.threads?"),
        ("threads=7", "Did you mean fetcher.threads or engine.threads?"),
        ("db.fetch.interval.maximum=7", "Did you mean db.fetch.interval.max?"),
        ("fetcher.threads=many", "it is a whole number (at least 1)"),
        ("fetcher.threads=0", "it is a whole number (at least 1)"),
        ("fetcher.queue_mode=page", "it is one of 'host', 'domain', 'ip'"),
        ("fetcher.parse=maybe", "it is true or false"),
        ("store.buckets=3", "must be a power of two (such as 4)"),
        ("schedule.interval_default_s=99999999999", "must be at most 2147483647"),
        ("db.fetch.interval.max=9999999999999", "must be at most 2147483647"),
        ("fetcher.server_delay_s=1e300", "must be at most 2147483647"),
        ("inject.score=-1e39", "must be at most 3.4e+38"),
        ("crawl.gen.delay=99999999999999999999", "must be at most 2147483647000"),
        ("http.timeout=2147483648", "at most 2147483647"),
        ("fetcher.server.delay=soon", "fetcher.server_delay_s cannot be 'soon': it is a number"),
        ("tika.config.file=x", "does not have yet (issue 5)"),
        ("fetcher.threads", "Write -D name=value"),
        ("=3", "Write -D name=value"),
    ],
)
def test_a_wrong_override_refuses_with_what_is_right(override: str, message: str) -> None:
    """An error on the command line says what is wrong and what would be right."""
    with pytest.raises(UserError) as caught:
        load_settings(None, [override])

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('# one\n[fetcher]\nthreads = "5"\n', "line 3: fetcher.threads cannot be '5'"),
        ("[fetcher]\n\nthread = 5\n", "line 3: there is no setting fetcher.thread"),
        ("[fetcher\n", "is not TOML"),
        ("[fetcher]\nparse = 1\n", "it is true or false"),
        ("[http]\nrobots_agents = [1]\n", "it is a list of texts"),
    ],
)
def test_a_wrong_file_refuses_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    """An error in the file names file and line."""
    with pytest.raises(UserError) as caught:
        load_settings(_write(tmp_path, text))

    assert message in str(caught.value)
    assert "filbert.toml" in str(caught.value)


def test_a_file_that_is_not_utf_8_refuses(tmp_path: Path) -> None:
    """A file in another charset is an error, not a crash."""
    (tmp_path / "filbert.toml").write_bytes(b'[http]\nagent_name = "caf\xe9"\n')

    with pytest.raises(UserError, match="not UTF-8"):
        load_settings(tmp_path)


def test_a_variable_that_names_no_setting_refuses() -> None:
    """A mistyped environment variable is not passed over."""
    with pytest.raises(UserError, match=r"(?s)FILBERT_FETCHER__THREAD:.*fetcher\.threads"):
        load_settings(None, [], {"FILBERT_FETCHER__THREAD": "3", "HOME": "/", "FILBERT_X": "y"})


def test_one_underscore_in_the_environment_is_told() -> None:
    """A variable that looks like a setting and would set nothing refuses with the right one."""
    with pytest.raises(UserError, match=r"(?s)FILBERT_HTTP_AGENT_NAME:.*FILBERT_HTTP__AGENT_NAME"):
        load_settings(None, [], {"FILBERT_HTTP_AGENT_NAME": "my-bot"})


def test_a_variable_that_sets_nothing_is_told() -> None:
    """It may be another program's, so it is no error; those of the command line are known."""
    environ = {
        "FILBERT_ZZZ": "2",
        "FILBERT_HTTP_AGENT": "x",
        "FILBERT_LOG_LEVEL": "info",
        "A": "b",
    }
    assert load_settings(None, [], environ).warnings == (
        (
            "environment variable FILBERT_HTTP_AGENT sets nothing: did you mean"
            " FILBERT_HTTP__AGENT_URL?"
        ),
        "environment variable FILBERT_ZZZ sets nothing: a setting is FILBERT_<SECTION>__<NAME>",
    )


def test_lists_are_read_from_commas_blanks_and_toml() -> None:
    """A list can be written in three ways."""
    forms = ("a,b", "a b", '["a", "b"]')
    got = [
        load_settings(None, [f"http.robots_agents={form}"]).settings.http.robots_agents
        for form in forms
    ]

    assert got == [("a", "b")] * 3


def test_optional_numbers_take_off(tmp_path: Path) -> None:
    """`off` is a value where a limit can be off, in every layer."""
    by_file = load_settings(_write(tmp_path, '[generate]\nmin_score = "off"\n'))
    by_option = load_settings(None, ["generate.min.score=NaN"])

    assert by_file.settings.generate.min_score is None
    assert by_option.settings.generate.min_score is None


def test_nutch_names_are_taken_in_the_file_and_on_the_command_line(tmp_path: Path) -> None:
    """A property of Nutch sets what it means, and the provenance keeps its name."""
    folder = _write(tmp_path, '"db.fetch.retry.max" = 5\n[db.update]\n"purge.404" = true\n')

    loaded = load_settings(folder, ["fetcher.queue.mode=byIP"])

    assert loaded.settings.update.retry_max == 5
    assert loaded.settings.update.purge_404 is True
    assert loaded.settings.fetcher.queue_mode == "ip"
    assert str(loaded.provenance["fetcher.queue_mode"]) == "command line: -D fetcher.queue.mode"


def test_our_name_goes_before_nutchs_in_one_layer() -> None:
    """Said twice in one layer, our own name counts."""
    loaded = load_settings(None, ["fetcher.threads=3", "fetcher.threads.fetch=8"])

    assert loaded.settings.fetcher.threads == 3


def test_names_without_counterpart_warn() -> None:
    """A property that sets nothing here says what to know instead."""
    got = load_settings(None, ["protocol.plugin.check.robots=false"]).warnings

    assert got == (
        (
            "protocol.plugin.check.robots sets nothing: "
            "robots.txt is always obeyed: robots.allowlist for exceptions"
        ),
    )


def test_relative_paths_are_taken_from_where_they_are_said(tmp_path: Path) -> None:
    """A rule file and a plugin file named in filbert.toml lie beside it."""
    (tmp_path / "mine.txt").write_text("+.\n", encoding="utf-8")
    folder = _write(
        tmp_path,
        'plugins = ["./my_site.py", "installed.module"]\n[urls]\nregex_filter_file = "mine.txt"\n',
    )

    settings = load_settings(folder).settings

    assert settings.urls.regex_filter_file == str(tmp_path / "mine.txt")
    assert settings.plugins.files == (str(tmp_path / "my_site.py"), "installed.module")


def test_a_missing_rule_file_refuses(tmp_path: Path) -> None:
    """A rule file that is not there would filter nothing, or all: it refuses."""
    with pytest.raises(UserError, match=r"regex_filter_file names the file .*gone\.txt"):
        load_settings(_write(tmp_path, '[urls]\nregex_filter_file = "gone.txt"\n'))


def test_nutchs_rule_files_are_found_in_the_crawl_folder(tmp_path: Path) -> None:
    """A `regex-urlfilter.txt` put into the crawl folder needs no setting."""
    (tmp_path / "regex-urlfilter.txt").write_text("+.\n", encoding="utf-8")

    loaded = load_settings(tmp_path)

    assert loaded.settings.urls.regex_filter_file == str(tmp_path / "regex-urlfilter.txt")
    assert str(loaded.provenance["urls.regex_filter_file"]) == "crawl folder: regex-urlfilter.txt"


@pytest.mark.parametrize("name", ["agent_name", "agent_url", "accept_language"])
def test_what_goes_into_a_header_is_one_line(name: str, tmp_path: Path) -> None:
    """A line break in a header's setting refuses: a header must not be able to bring another."""
    for value in ("a\r\nX-Mine: 1", "a\tb", "a\0b"):
        with pytest.raises(UserError, match=rf"http\.{name} cannot be .*one line"):
            load_settings(tmp_path, [f"http.{name}={value}"])
    with pytest.raises(UserError, match="one line"):
        load_settings(_write(tmp_path, '[http]\nrobots_agents = ["a\\nb"]\n'))


def test_what_goes_into_a_header_is_ascii(tmp_path: Path) -> None:
    """Signs beyond ASCII refuse: each server and robots.txt would read them in its own way."""
    with pytest.raises(UserError, match=r"http\.agent_name cannot be .*ASCII"):
        load_settings(tmp_path, ["http.agent_name=bätz"])


def test_a_section_is_no_setting(tmp_path: Path) -> None:
    """`http = 3` is told that http is a section, and how one of its settings is called."""
    with pytest.raises(UserError, match="http is a section, not a setting") as refused:
        load_settings(_write(tmp_path, "http = 3\n"))
    assert "http.agent_name" in refused.value.hint

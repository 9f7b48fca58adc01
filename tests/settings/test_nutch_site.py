"""The import of nutch-site.xml."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.settings import load_settings
from filbert.settings.nutch_site import import_site

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = '<?xml version="1.0"?>\n<configuration>'


def _site(folder: Path, **properties: str) -> Path:
    rows = "".join(
        f"<property><name>{name.replace('__', '.')}</name><value>{value}</value>"
        f"<description>d</description></property>\n"
        for name, value in properties.items()
    )
    path = folder / "nutch-site.xml"
    path.write_text(f"{_HEAD}\n{rows}</configuration>\n", encoding="utf-8")
    return path


def test_what_is_imported_is_a_settings_file(tmp_path: Path) -> None:
    """The text that comes out loads, and means what the XML meant."""
    path = _site(
        tmp_path,
        http__agent__name='Seed "Bot"',
        fetcher__server__delay="0.5",
        db__ignore__external__links="true",
        generate__min__score="NaN",
        http__robots__agents="a,b",
    )
    (tmp_path / "filbert.toml").write_text(import_site(path).toml, encoding="utf-8")

    got = load_settings(tmp_path).settings

    assert got.http.agent_name == 'Seed "Bot"'
    assert got.fetcher.server_delay_s == 0.5
    assert got.parse.ignore_external_links is True
    assert got.generate.min_score is None
    assert got.http.robots_agents == ("a", "b")


def test_no_property_is_lost_silently(tmp_path: Path) -> None:
    """What sets nothing stands in a comment with its value and reason."""
    path = _site(tmp_path, selenium__driver="firefox", io__serializations="x", my__own="y")

    got = import_site(path)

    assert (got.taken, got.left) == (0, 3)
    assert "#   selenium.driver = firefox  (the browser is a Chromium of this machine: " in got.toml
    assert "#   io.serializations = x  (Hadoop's own)\n" in got.toml
    assert "#   my.own = y\n" in got.toml


def test_a_value_of_several_lines_stays_in_its_comment(tmp_path: Path) -> None:
    """A comment cannot break out of its line."""
    path = _site(tmp_path, my__own="one\n[fetcher]\nthreads = 1")

    assert "#   my.own = one [fetcher] threads = 1\n" in import_site(path).toml


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no xml", "is not XML"),
        ("<other/>", "not <configuration>"),
        ('<!DOCTYPE c [<!ENTITY a "b">]><configuration/>', "entities are not read"),
        (
            '<configuration xmlns:xi="x"><xi:include href="/etc/passwd"/></configuration>',
            "includes another file",
        ),
        (
            (
                "<configuration><property><name>fetcher.threads.fetch</name><value>x</value>"
                "</property></configuration>"
            ),
            "fetcher.threads cannot be 'x'",
        ),
        (
            (
                "<configuration><property><name>plugin.includes</name><value>(</value>"
                "</property></configuration>"
            ),
            "plugin.includes is no regular expression",
        ),
    ],
)
def test_a_bad_file_refuses(tmp_path: Path, text: str, message: str) -> None:
    """Broken, foreign and hostile files are errors that say what is wrong."""
    path = tmp_path / "nutch-site.xml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UserError) as caught:
        import_site(path)

    assert message in str(caught.value)


def _properties(*written: str) -> str:
    lines = "\n".join(f"<property>{one}</property>" for one in written)
    return f"<configuration>\n{lines}\n</configuration>"


def test_all_bad_values_are_named_with_property_and_line(tmp_path: Path) -> None:
    """Who mends a file wants to know of all at once, by the name that stands there."""
    path = tmp_path / "nutch-site.xml"
    path.write_text(
        _properties(
            "<name>http.timeout</name><value>99999999999</value>",
            "<name>http.agent.name</name><value>a</value>",
            "<name>fetcher.threads.fetch</name><value>x</value>",
        )
    )
    with pytest.raises(UserError) as caught:
        import_site(path)
    first, second, hint = str(caught.value).splitlines()
    assert f"{path} line 2: http.timeout: http.timeout_ms cannot be '99999999999'" in first
    assert f"{path} line 4: fetcher.threads.fetch: fetcher.threads cannot be 'x'" in second
    assert hint == "  Mend this there, and import again."


def test_a_property_that_stands_twice_is_told(tmp_path: Path) -> None:
    """The last counts, as in Hadoop; one that is final cannot be changed by a later one."""
    path = tmp_path / "nutch-site.xml"
    final = "<final>true</final>"
    path.write_text(
        _properties(
            "<name>http.agent.name</name><value>a</value>",
            f"<name>fetcher.threads.fetch</name><value>5</value>{final}",
            "<name>http.agent.name</name><value>b</value>",
            "<name>fetcher.threads.fetch</name><value>6</value>",
        )
    )
    got = import_site(path)
    assert 'agent_name = "b"' in got.toml
    assert "threads = 5" in got.toml
    assert got.notes == (
        "http.agent.name stands twice (lines 2 and 4): the last counts",
        "fetcher.threads.fetch stands twice (lines 3 and 5): the first is final, and counts",
    )


def test_a_chain_that_plugin_includes_empties_is_told(tmp_path: Path) -> None:
    """Without a normaliser or filter a crawl is another one; that is said, and written down."""
    path = tmp_path / "nutch-site.xml"
    plugins = "protocol-http|parse-html|index-basic|scoring-opic"
    path.write_text(_properties(f"<name>plugin.includes</name><value>{plugins}</value>"))
    got = import_site(path)
    assert "normalizers = []" in got.toml
    assert [note.partition(":")[0] for note in got.notes] == [
        "plugin.includes has no urlnormalizer",
        "plugin.includes has no urlfilter",
    ]
    assert all(note in got.toml for note in got.notes)


def test_a_missing_file_refuses(tmp_path: Path) -> None:
    """A file that is not there is the user's to mend."""
    with pytest.raises(UserError, match="cannot be read"):
        import_site(tmp_path / "gone.xml")

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
        http__agent__name='Caf\N{LATIN SMALL LETTER E WITH ACUTE} "Bot"',
        fetcher__server__delay="0.5",
        db__ignore__external__links="true",
        generate__min__score="NaN",
        http__robots__agents="a,b",
    )
    (tmp_path / "filbert.toml").write_text(import_site(path).toml, encoding="utf-8")

    got = load_settings(tmp_path).settings

    assert got.http.agent_name == 'Caf\N{LATIN SMALL LETTER E WITH ACUTE} "Bot"'
    assert got.fetcher.server_delay_s == 0.5
    assert got.parse.ignore_external_links is True
    assert got.generate.min_score is None
    assert got.http.robots_agents == ("a", "b")


def test_no_property_is_lost_silently(tmp_path: Path) -> None:
    """What sets nothing stands in a comment with its value and reason."""
    path = _site(tmp_path, http__proxy__host="proxy", io__serializations="x", my__own="y")

    got = import_site(path)

    assert (got.taken, got.left) == (0, 3)
    assert "#   http.proxy.host = proxy  (issue 4)\n" in got.toml
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


def test_a_missing_file_refuses(tmp_path: Path) -> None:
    """A file that is not there is the user's to mend."""
    with pytest.raises(UserError, match="cannot be read"):
        import_site(tmp_path / "gone.xml")

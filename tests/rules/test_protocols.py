"""Which protocol plugin a host or a scheme is mapped to."""

from __future__ import annotations

from filbert.rules.protocols import mapping_of, parse_mapping

NUTCH = """\
# This file defines a hostname to protocol plugin mapping.
# <hostname>\t<plugin_id>
nutch.apache.org\torg.apache.nutch.protocol.httpclient.Http
Tika.apache.org\torg.apache.nutch.protocol.selenium.Http

protocol:https\torg.apache.nutch.protocol.okhttp.OkHttp
protocol:ftp\tprotocol-ftp
example.org\tbrowser
own.test\tmy-protocol
"""


def test_the_file_of_nutch_is_read_as_it_stands() -> None:
    """Ids of its plugins and of its extensions are names of ours; others are as they stand."""
    got = parse_mapping(NUTCH)
    assert got.hosts == {
        "nutch.apache.org": "http",
        "tika.apache.org": "browser",
        "example.org": "browser",
        "own.test": "my-protocol",
    }
    assert got.schemes == {"https": "http", "ftp": "ftp"}
    assert got.bad_lines == ()
    assert got.names() == ("http", "browser", "my-protocol", "ftp")


def test_lines_that_say_nothing_are_told() -> None:
    """With their numbers; the rest of the file holds."""
    got = parse_mapping("a.test browser\nb.test\tbrowser\nc.test\tx\ty\n\tz\n")
    assert got.hosts == {"b.test": "browser"}
    assert got.bad_lines == ("line 1: a.test browser", "line 3: c.test\tx\ty", "line 4: z")


def test_settings_go_before_the_file() -> None:
    """Entry by entry, whichever host or scheme they name."""
    file = parse_mapping("a.test\tbrowser\nb.test\tbrowser\n")
    got = mapping_of(["A.test = http"], ["https=mine"]).over(file)
    assert got.hosts == {"a.test": "http", "b.test": "browser"}
    assert got.schemes == {"https": "mine"}

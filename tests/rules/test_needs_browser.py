"""Whether a page needs a browser, on the shapes that frameworks serve."""

from __future__ import annotations

import pytest

from filbert.rules.needs_browser import needs_browser

SCRIPT = b'<script type="module" crossorigin src="/assets/index-4f2a.js"></script>'
NEEDING = {
    "Vite and Vue": (
        b'<!doctype html><html lang="en"><head><meta charset="UTF-8"><title>Shop</title>'
        + SCRIPT
        + b'</head><body><div id="app"></div></body></html>',
        "app_root",
    ),
    "Create React App": (
        b"<!doctype html><head><title>React App</title></head><body><noscript>You need to enable "
        b'JavaScript to run this app.</noscript><div id="root"></div>' + SCRIPT + b"</body>",
        "app_root",
    ),
    "Angular": (
        b"<body><app-root></app-root>" + SCRIPT * 3 + b"</body>",
        "app_root",
    ),
    "Angular, own element": (b"<body><shop-app ng-version='17'> </shop-app>" + SCRIPT, "app_root"),
    "Next.js without a server": (
        b'<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">'
        b'{"props":{"text":"' + b"words " * 500 + b'"}}</script></body>',
        "app_root",
    ),
    "Nuxt, comment in its root": (
        b"<body><div class='x' id=__nuxt data-v><!-- here --></div>" + SCRIPT,
        "app_root",
    ),
    "Ember": (
        b"<body class='loading'>" + SCRIPT * 2 + b"</body>",
        "only_scripts",
    ),
    "a gate": (
        b"<body><p>Loading&nbsp;...</p><noscript><h1>Please enable JavaScript</h1></noscript>"
        + SCRIPT,
        "noscript",
    ),
}
TEXT = b"<p>" + b"Some words of a real page. " * 20
LEFT_ALONE = {
    "a page": b"<body>" + TEXT + SCRIPT,
    "rendered by its server": b'<body><div id="__next"><main>' + TEXT + b"</main></div>" + SCRIPT,
    "no script at all": b'<body><div id="root"></div></body>',
    "short, with links": b"<body><a href=/a>a</a>" + SCRIPT,
    "short, with text": b"<body><h1>Hello</h1>" + SCRIPT,
    "a noscript that counts visits": b"<body><p>Hi</p><noscript><img src=//count></noscript>"
    + SCRIPT,
    "frames": b"<frameset><frame src=a></frameset>",
    "empty": b"",
}


@pytest.mark.parametrize("shape", NEEDING)
def test_a_page_that_scripts_make_needs_a_browser(shape: str) -> None:
    """Next to no text, and the sign by which it is known."""
    page, sign = NEEDING[shape]
    assert needs_browser(page, least_text=200).sign == sign


@pytest.mark.parametrize("shape", LEFT_ALONE)
def test_a_page_that_shows_something_needs_none(shape: str) -> None:
    """A browser costs a hundred times what a request does: in doubt, no."""
    assert not needs_browser(LEFT_ALONE[shape], least_text=200)


def test_how_much_text_is_enough_is_a_setting() -> None:
    """Below it the signs decide; at it they are not looked at."""
    page = b'<body><p>12345</p><div id="root"></div>' + SCRIPT
    assert needs_browser(page, least_text=6)
    assert not needs_browser(page, least_text=5)


@pytest.mark.parametrize("piece", [b"<script>", b"<div id=", b"<noscript>", b"<!--", b"<a-app>"])
def test_hostile_pages_cost_linear_time(piece: bytes) -> None:
    """A megabyte of openings without ends is looked through in well under the test's limit."""
    assert needs_browser(b"<script>" + piece * (1_000_000 // len(piece)), least_text=200).sign in {
        "",
        "only_scripts",
    }

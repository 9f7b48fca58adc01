"""The documents of the synthetic web: HTML pages, text files, an endless calendar.

Guarantee: pure functions; the same arguments give the same text. Words are those of a small
lexicon in several scripts, so that charsets, languages and word breaks are all met.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CHARSETS", "calendar_html", "page_html", "page_text"]

CHARSETS = ("utf-8", "utf-8", "utf-8", "iso-8859-1", "windows-1252", "shift_jis", "windows-1251")

_LEXICON = {
    "utf-8": "river stone lantern orchard copper harbor willow engine market letter bridge "
    "candle garden silver meadow winter thunder pepper violin compass 東京 図書館 北京 서울 мост",
    "iso-8859-1": "forêt château garçon été naïve rivière où déjà façade crème pierre marché "
    "lanterne jardin lettre pont hiver argent cuivre port moteur",
    "windows-1252": "straße käse grün öffnen fünf „brücke“ garten winter laterne kupfer hafen "
    "markt brief kerze silber wiese donner pfeffer geige kompass – €",
    "shift_jis": "東京 図書館 川 石 灯籠 果樹園 銅 港 柳 機関 市場 手紙 橋 庭 銀 草原 冬 雷 胡椒",
    "windows-1251": "река камень фонарь сад медь гавань ива рынок письмо мост свеча серебро луг "
    "зима гром перец скрипка компас",
}
_WORDS = {charset: text.split() for charset, text in _LEXICON.items()}


def page_html(
    *,
    page: int,
    kind: str,
    words: Sequence[float],
    links: Sequence[str],
    refresh: str,
    canonical: str,
) -> tuple[str, str]:
    """Return a page as HTML, and the charset that it is to be sent in.

    Args:
        page: Its number; chooses the charset.
        kind: refresh, noindex, nofollow, canonical add their tag; others are ordinary.
        words: One number from 0 to 1 a word.
        links: Targets as they shall stand in the page.
        refresh: Target of a refresh.
        canonical: Target of rel=canonical.
    """
    charset = CHARSETS[page % len(CHARSETS)]
    lexicon = _WORDS[charset]
    text = [lexicon[int(word * len(lexicon))] for word in words]
    title = " ".join(text[:4])
    tags = {
        "refresh": f'<meta http-equiv="refresh" content="0; url={escape(refresh)}">',
        "noindex": '<meta name="robots" content="noindex">',
        "nofollow": '<meta name="robots" content="nofollow">',
        "canonical": f'<link rel="canonical" href="{escape(canonical)}">',
    }
    anchors = "\n".join(
        f'<li><a href="{escape(url)}">{escape(" ".join(text[n : n + 2]))}</a></li>'
        for n, url in enumerate(links)
    )
    html = (
        f'<!DOCTYPE html>\n<html><head><meta charset="{charset}"><title>{escape(title)} {page}'
        f"</title>{tags.get(kind, '')}</head>\n<body><h1>{escape(title)}</h1>\n"
        f"<p>{escape(' '.join(text))}</p>\n<ul>\n{anchors}\n</ul></body></html>\n"
    )
    return html, charset


def page_text(words: Sequence[float], page: int) -> str:
    """Return a page as plain text."""
    lexicon = _WORDS["utf-8"]
    return f"text {page}\n" + " ".join(lexicon[int(word * len(lexicon))] for word in words) + "\n"


def calendar_html(year: int, month: int) -> str:
    """Return one month of a calendar without end: the classic trap."""
    after = f"/calendar/{year + month // 12}/{month % 12 + 1}"
    before = f"/calendar/{year - (month == 1)}/{(month - 2) % 12 + 1}"
    return (
        f"<!DOCTYPE html>\n<html><head><title>Events {year}-{month:02}</title></head><body>"
        f'<p>No events.</p><a href="{before}">before</a> <a href="{after}">after</a>'
        "</body></html>\n"
    )

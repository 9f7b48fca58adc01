"""Media types by file name, their other spellings, and which of them is a kind of which.

Source: IANA's registry and Apache Tika's names, so that types are called as Nutch calls them.
"""

from __future__ import annotations

__all__ = ["ALIASES", "EXTENSIONS", "OCTETS", "PARENTS", "is_kind_of"]

OCTETS = "application/octet-stream"

ALIASES = {
    "application/javascript": "text/javascript",
    "application/x-javascript": "text/javascript",
    "application/ecmascript": "text/javascript",
    "text/ecmascript": "text/javascript",
    "text/x-javascript": "text/javascript",
    "application/x-gzip": "application/gzip",
    "application/x-zip-compressed": "application/zip",
    "application/x-pdf": "application/pdf",
    "text/xml": "application/xml",
    "application/x-xml": "application/xml",
    "image/x-icon": "image/vnd.microsoft.icon",
    "application/rtf": "application/rtf",
    "text/rtf": "application/rtf",
    "text/json": "application/json",
    "audio/x-wav": "audio/vnd.wave",
    "audio/wav": "audio/vnd.wave",
    "image/x-bmp": "image/bmp",
    "image/x-ms-bmp": "image/bmp",
    "application/x-bzip": "application/x-bzip2",
    "application/vnd.wap.xhtml+xml": "application/xhtml+xml",
}

EXTENSIONS = {
    "html": "text/html", "htm": "text/html", "shtml": "text/html",
    "xhtml": "application/xhtml+xml", "xht": "application/xhtml+xml",
    "txt": "text/plain", "text": "text/plain", "log": "text/x-log",
    "css": "text/css", "csv": "text/csv", "tsv": "text/tab-separated-values",
    "md": "text/x-web-markdown", "ics": "text/calendar", "vcf": "text/x-vcard",
    "js": "text/javascript", "mjs": "text/javascript", "json": "application/json",
    "xml": "application/xml", "xsl": "application/xml", "rss": "application/rss+xml",
    "atom": "application/atom+xml", "rdf": "application/rdf+xml", "svg": "image/svg+xml",
    "py": "text/x-python", "java": "text/x-java-source", "c": "text/x-csrc",
    "h": "text/x-chdr", "sh": "application/x-sh", "php": "text/x-php", "tex": "application/x-tex",
    "eml": "message/rfc822", "pdf": "application/pdf", "ps": "application/postscript",
    "eps": "application/postscript", "rtf": "application/rtf",
    "doc": "application/msword", "dot": "application/msword",
    "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip", "jar": "application/java-archive",
    "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip",
    "bz2": "application/x-bzip2", "xz": "application/x-xz", "7z": "application/x-7z-compressed",
    "tar": "application/x-tar", "rar": "application/x-rar-compressed",
    "gif": "image/gif", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
    "webp": "image/webp", "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff",
    "ico": "image/vnd.microsoft.icon", "mp3": "audio/mpeg", "wav": "audio/vnd.wave",
    "ogg": "audio/vorbis", "flac": "audio/x-flac", "mp4": "video/mp4", "avi": "video/x-msvideo",
    "mpg": "video/mpeg", "mpeg": "video/mpeg", "mov": "video/quicktime", "webm": "video/webm",
    "mkv": "video/x-matroska", "flv": "video/x-flv", "swf": "application/x-shockwave-flash",
    "woff": "font/woff", "woff2": "font/woff2", "ttf": "application/x-font-ttf",
    "class": "application/java-vm", "exe": "application/x-dosexec",
    "warc": "application/warc",
}  # fmt: skip

_ZIPPED = "application/zip"
_XML = "application/xml"
_TEXT = "text/plain"

PARENTS = {
    "application/xhtml+xml": _XML,
    "application/rss+xml": _XML,
    "application/atom+xml": _XML,
    "application/rdf+xml": _XML,
    "image/svg+xml": _XML,
    _XML: _TEXT,
    "application/json": _TEXT,
    "application/x-sh": _TEXT,
    "application/x-tex": _TEXT,
    "message/rfc822": _TEXT,
    "application/x-httpd-php": _TEXT,
    "application/epub+zip": _ZIPPED,
    "application/java-archive": _ZIPPED,
    "application/x-tika-ooxml": _ZIPPED,
    **{kind: _ZIPPED for kind in EXTENSIONS.values() if ".opendocument." in kind},
    **{kind: "application/x-tika-ooxml" for kind in EXTENSIONS.values() if ".openxml" in kind},
    "application/msword": "application/x-tika-msoffice",
    "application/vnd.ms-excel": "application/x-tika-msoffice",
    "application/vnd.ms-powerpoint": "application/x-tika-msoffice",
}
"""Type to the broader type that it is a kind of; `text/*` is text/plain, and all are octets."""


def is_kind_of(narrow: str, broad: str) -> bool:
    """Say whether `narrow` is `broad`, or a special case of it."""
    while narrow != broad:
        if narrow == OCTETS:
            return False
        narrow = PARENTS.get(narrow) or (
            _TEXT if narrow.startswith("text/") and narrow != _TEXT else OCTETS
        )
    return True

"""The peer: Scrapy fetching the same URLs; robots.txt obeyed, bodies decoded and stored.

Arguments: file of URLs, folder for the bodies. Prints one JSON line.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.crawler import CrawlerProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 100,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "USER_AGENT": "bench",
}


class Bodies(scrapy.Spider):
    """Asks for each URL once and appends what came to one file."""

    name = "bodies"

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Ask for each URL."""
        for url in URLS:
            yield scrapy.Request(url, callback=self.keep, dont_filter=True)

    def keep(self, response: Any) -> None:
        """Store one body."""
        OUTPUT.write(response.url.encode() + b"\n" + response.body)
        COUNT[0] += response.status == 200


COUNT = [0]
URLS = Path(sys.argv[1]).read_text().split()
OUTPUT = (Path(sys.argv[2]) / "bodies").open("ab")
started = time.process_time()
process = CrawlerProcess(SETTINGS)
process.crawl(Bodies)
process.start()
OUTPUT.close()
print(json.dumps({"pages": COUNT[0], "cpu_s": time.process_time() - started}))

"""All settings of a crawl, one section per stage.

Guarantee: a `Settings` is complete, checked and frozen; `settings.<section>.<name>` never fails.
How values are layered and where each came from is `load.py`.
"""

from __future__ import annotations

from filbert.settings.base import Section
from filbert.settings.browser import BrowserSettings
from filbert.settings.dedup import DedupSettings
from filbert.settings.engine import EngineSettings
from filbert.settings.fetcher import FetcherSettings
from filbert.settings.file import FileSettings
from filbert.settings.ftp import FtpSettings
from filbert.settings.generate import GenerateSettings
from filbert.settings.http import HttpSettings
from filbert.settings.index import IndexSettings
from filbert.settings.inject import InjectSettings
from filbert.settings.links import LinksSettings
from filbert.settings.parse import ParseSettings
from filbert.settings.plugins import PluginsSettings
from filbert.settings.protocols import ProtocolsSettings
from filbert.settings.proxy import ProxySettings
from filbert.settings.publish import PublishSettings
from filbert.settings.replay import ReplaySettings
from filbert.settings.robots import RobotsSettings
from filbert.settings.schedule import ScheduleSettings
from filbert.settings.scoring import ScoringSettings
from filbert.settings.search import SearchSettings
from filbert.settings.signature import SignatureSettings
from filbert.settings.store import StoreSettings
from filbert.settings.traps import TrapsSettings
from filbert.settings.update import UpdateSettings
from filbert.settings.urls import UrlsSettings

__all__ = ["Settings"]


class Settings(Section):
    """The settings of one crawl."""

    plugins: PluginsSettings = PluginsSettings()
    inject: InjectSettings = InjectSettings()
    generate: GenerateSettings = GenerateSettings()
    http: HttpSettings = HttpSettings()
    proxy: ProxySettings = ProxySettings()
    protocols: ProtocolsSettings = ProtocolsSettings()
    robots: RobotsSettings = RobotsSettings()
    file: FileSettings = FileSettings()
    ftp: FtpSettings = FtpSettings()
    browser: BrowserSettings = BrowserSettings()
    fetcher: FetcherSettings = FetcherSettings()
    replay: ReplaySettings = ReplaySettings()
    publish: PublishSettings = PublishSettings()
    parse: ParseSettings = ParseSettings()
    traps: TrapsSettings = TrapsSettings()
    urls: UrlsSettings = UrlsSettings()
    signature: SignatureSettings = SignatureSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    scoring: ScoringSettings = ScoringSettings()
    update: UpdateSettings = UpdateSettings()
    links: LinksSettings = LinksSettings()
    dedup: DedupSettings = DedupSettings()
    index: IndexSettings = IndexSettings()
    search: SearchSettings = SearchSettings()
    store: StoreSettings = StoreSettings()
    engine: EngineSettings = EngineSettings()

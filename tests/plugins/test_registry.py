"""Where plugins are found, and what is said when they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import PluginError, UserError
from filbert.plugins.contracts import Scope
from filbert.plugins.registry import POINTS, PluginRepository
from filbert.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MY_SITE = """
from filbert.model.records import Verdict

class MySite:
    name = "my_site"

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    def fingerprint(self):
        return "1"

    def judge(self, url):
        return Verdict(accepted="/private/" not in url, reason="private", rule="/private/")

PLUGINS = {"url_filters": [MySite]}
"""


def _repository(folder: Path, **sections: Mapping[str, object]) -> PluginRepository:
    return PluginRepository(Settings.model_validate(sections), folder)


def test_the_defaults_are_all_there(tmp_path: Path) -> None:
    """Every plugin that the default settings name is installed and keeps its contract."""
    repository = _repository(tmp_path)
    names = [p.name for p in (*repository.url_normalizers(), *repository.url_filters())]
    assert names == ["basic", "regex", "regex"]
    assert [p.name for p in repository.parsers()] == ["html", "text"]
    assert repository.signature().name == "md5"
    assert repository.url_chain() is repository.url_chain()


@pytest.mark.parametrize("point", ["url_normalizers", "url_filters", "parsers", "signatures"])
def test_every_installed_plugin_can_be_made(point: str, tmp_path: Path) -> None:
    """Each plugin of ours is loaded, checked and made from the default settings."""
    repository = _repository(tmp_path)
    for name in repository.available(point):
        assert repository._one(point, name).name == name


def test_an_unknown_name_refuses_with_the_nearest(tmp_path: Path) -> None:
    """A name that no plugin has is refused; the nearest and all others are shown."""
    with pytest.raises(PluginError, match="Did you mean 'regex'"):
        _repository(tmp_path, urls={"filters": ("regxe",)}).url_filters()


def test_a_single_file_brings_plugins(tmp_path: Path) -> None:
    """A file named in `plugins` brings plugins that settings can name, without a package."""
    (tmp_path / "my_site.py").write_text(MY_SITE)
    urls = {"filters": ("my_site", "regex")}
    repository = _repository(tmp_path, plugins={"files": ("./my_site.py",)}, urls=urls)
    chain = repository.url_chain()
    assert chain.apply("http://a.com/private/x", Scope.OUTLINK).reason == "private"
    assert chain.apply("http://a.com/x", Scope.OUTLINK).url == "http://a.com/x"
    assert "my_site.py" in str(repository.available("url_filters")["my_site"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "no PLUGINS"),
        ("import nowhere_to_be_found", "ModuleNotFoundError"),
        ("PLUGINS = {'url_filter': []}", "no extension point 'url_filter'"),
        ("PLUGINS = {'url_filters': [3]}", "no class with a `name`"),
        (
            "class A:\n    name = 'a'\nPLUGINS = {'url_filters': [A]}",
            r"plugin 'a' \(url_filters\) of file .* has no .*judge",
        ),
        (
            MY_SITE.replace("return cls()", "raise KeyError('x')").replace("my_site", "a"),
            "plugin 'a' .* cannot be made: KeyError",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text: str, said: str, tmp_path: Path) -> None:
    """A file that cannot be used is named, with what is wrong and what would be right."""
    (tmp_path / "f.py").write_text(text)
    files = {"files": (str(tmp_path / "f.py"),)}
    with pytest.raises(PluginError, match=said):
        _repository(tmp_path, plugins=files, urls={"filters": ("a",)}).url_filters()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A plugin file that is not there is named with its path."""
    (tmp_path / "nopes.py").touch()
    with pytest.raises(PluginError, match=r"nope\.py is not there\n  Did you mean .*nopes\.py\?"):
        _repository(tmp_path, plugins={"files": ("nope.py",)}).url_filters()


def test_a_plugins_own_user_error_passes(tmp_path: Path) -> None:
    """What a plugin says of its settings reaches the user as it is."""
    with pytest.raises(UserError, match="is no rule"):
        _repository(tmp_path, urls={"regex_filter_rules": "?"}).url_filters()


def test_every_point_has_a_contract() -> None:
    """An extension point is a Protocol on the page of contracts."""
    assert {kind.__module__ for kind in POINTS.values()} == {"filbert.plugins.contracts"}


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("urls", "filters", ("regexx",)),
        ("urls", "normalizers", ("basics",)),
        ("parse", "parsers", ("htm",)),
        ("signature", "name", "MD6Signature"),
        ("schedule", "name", "DefaultSchedule"),
        ("scoring", "names", ("opik",)),
        ("index", "filters", ("basi",)),
    ],
)
def test_names_are_checked_before_a_plugin_is_wanted(
    section: str, field: str, value: object, tmp_path: Path
) -> None:
    """`check` refuses each unknown name with the nearest, and passes the defaults."""
    settings = Settings.model_validate({section: {field: value}})
    with pytest.raises(PluginError, match="there is no plugin"):
        PluginRepository(settings, tmp_path).check()
    PluginRepository(Settings(), tmp_path).check()

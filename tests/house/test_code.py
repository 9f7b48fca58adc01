"""The house rules that no linter knows: sizes, docstrings, names, paths, dependencies."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import filbert

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "docs", "scripts", "benchmarks", "examples", "demo")
FILE_LINES, TEST_FILE_LINES, FUNCTION_LINES = 400, 600, 40

LARGER_ON_PURPOSE: dict[str, str] = {
    "tests/reports/test_explain.py::paper": "a crawl of two rounds on paper, told in one piece",
}
"""File, or file::function → why it may be larger."""

NO_NAMES = re.compile(r"(?:^|_)(?:utils?|helpers?|common|managers?|misc)(?:_|\.py$)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _files() -> tuple[Path, ...]:
    every = (path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.py"))
    relative = (path.relative_to(REPOSITORY) for path in every)
    return tuple(sorted(path for path in relative if path.parts[:2] != ("tests", "data")))


@cache
def _text(path: Path) -> str:
    return (REPOSITORY / path).read_text(encoding="utf-8")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(_text(path), filename=str(path))


def _functions(path: Path) -> list[Function]:
    return [node for node in ast.walk(_tree(path)) if isinstance(node, Function)]


def _body_lines(function: Function) -> int:
    has_docstring = ast.get_docstring(function, clean=False) is not None
    body = function.body[1:] if has_docstring else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _sources() -> list[Path]:
    return [path for path in _files() if path.parts[0] == "src"]


def test_files_are_small() -> None:
    """A file has at most 400 lines (a test file 600), or a reason in the table."""
    too_long = {
        str(path): len(_text(path).splitlines())
        for path in _files()
        if len(_text(path).splitlines())
        > (TEST_FILE_LINES if path.parts[0] == "tests" else FILE_LINES)
        and str(path) not in LARGER_ON_PURPOSE
    }

    assert too_long == {}


def test_functions_are_small() -> None:
    """A function body has at most 40 lines, or a reason in the table."""
    too_long = {
        f"{path}::{function.name}": _body_lines(function)
        for path in _files()
        for function in _functions(path)
        if _body_lines(function) > FUNCTION_LINES
        and f"{path}::{function.name}" not in LARGER_ON_PURPOSE
    }

    assert too_long == {}


def test_the_table_of_exceptions_is_true() -> None:
    """An exception that is no longer needed leaves the table."""
    names = {str(path) for path in _files()}

    assert [name for name in LARGER_ON_PURPOSE if name.split("::")[0] not in names] == []


def test_every_module_says_what_it_is() -> None:
    """Each file opens with a docstring."""
    assert [str(path) for path in _files() if not ast.get_docstring(_tree(path))] == []


def test_every_test_says_which_rule_it_keeps() -> None:
    """Each test has a docstring."""
    silent = [
        f"{path}::{function.name}"
        for path in _files()
        if path.parts[0] == "tests"
        for function in _functions(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]

    assert silent == []


def test_file_names_say_something() -> None:
    """No `utils`, `helpers`, `common`, `manager`: a helper lives beside its user."""
    assert [str(path) for path in _files() if NO_NAMES.search(path.name)] == []


def test_tests_mirror_the_tree() -> None:
    """A folder of tests is named after a room, or is one of the suites that span rooms."""
    rooms = {path.name for path in (REPOSITORY / "src" / "filbert").iterdir() if path.is_dir()}
    suites = {"contracts", "data", "demo", "docs", "house", "journeys", "model", "typing"}
    folders = {path.name for path in (REPOSITORY / "tests").iterdir() if path.is_dir()}

    assert {name for name in folders - rooms - suites if not name.startswith((".", "__"))} == set()


def test_todo_carries_an_issue_number() -> None:
    """What is left for later can be found in an issue."""
    # The words are put together here so that this file does not find itself.
    word = re.compile(r"#.*\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!.*issue \d+)")
    found = [
        f"{path}:{number}"
        for path in _files()
        for number, line in enumerate(_text(path).splitlines(), start=1)
        if word.search(line)
    ]

    assert found == []


def test_no_path_of_one_machine() -> None:
    """Nothing in the code knows where a developer keeps his files."""
    path_of_one = re.compile(r"""["'\s=](?:/home/|/root/|/work/|/Users/)""")
    found = [
        f"{path}:{number}"
        for path in _files()
        if path != Path(__file__).relative_to(REPOSITORY)
        for number, line in enumerate(_text(path).splitlines(), start=1)
        if path_of_one.search(line)
    ]

    assert found == []


def test_the_version_is_said_once() -> None:
    """The package and pyproject.toml agree."""
    project = tomllib.loads(_text(Path("pyproject.toml")))["project"]

    assert filbert.__version__ == project["version"]


def test_every_import_is_declared_and_every_dependency_used() -> None:
    """pyproject.toml lists what the code imports; an extra may be for tests and plugins alone."""
    project = tomllib.loads(_text(Path("pyproject.toml")))["project"]
    extras = [one for group in project["optional-dependencies"].values() for one in group]
    core = {_canonical(one) for one in project["dependencies"]}
    by_module = packages_distributions()
    used = {
        _canonical(name)
        for module in _imported_modules()
        for name in by_module.get(module, [module])
    }

    assert used - core - {_canonical(one) for one in extras} == set()
    assert core - used == set()


def _canonical(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", match[0] if match else requirement).lower()


def _imported_modules() -> set[str]:
    modules: set[str] = set()
    for path in _sources():
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.split(".")[0])
    return modules - set(sys.stdlib_module_names) - {"filbert"}

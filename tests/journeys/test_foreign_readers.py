"""A crawl folder is open to other programs: each table and capture, with nothing of filbert."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable

from filbert.model.schemas import TABLES
from filbert.testing.synthetic_server import SyntheticServer
from filbert.testing.synthetic_web import WebSpec

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.journey


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small crawl of two rounds."""
    folder = tmp_path_factory.mktemp("readers") / "crawl"
    with SyntheticServer(WebSpec(hosts=3, pages=8, addresses=True, slow_ms=100)) as server:
        command = [sys.executable, "-m", "filbert.cli", "crawl", str(folder), "--rounds", "2"]
        for url in server.web.seeds():
            command += ["--seeds", url]
        for setting in ("http.agent_name=test", "fetcher.server_delay_s=0.01"):
            command += ["-D", setting]
        command += ["-D", "http.allow_addresses=loopback"]
        subprocess.run(command, check=True, capture_output=True)
    return folder


def tables(crawl: Path) -> dict[Path, str]:
    """Return the folder of each table, with its name; all nine kinds must be there."""
    found = {log.parent: log.parent.name for log in crawl.rglob("_delta_log")}
    assert set(found.values()) == set(TABLES)
    return found


def test_polars_reads_every_table(crawl: Path) -> None:
    """`polars.read_delta` gives the columns of the schema."""
    for path, name in tables(crawl).items():
        assert tuple(pl.read_delta(str(path)).columns) == TABLES[name].names


def test_duckdb_reads_every_table(crawl: Path) -> None:
    """`read_parquet` of a version's files gives the rows that the log counts."""
    for path, name in tables(crawl).items():
        table = DeltaTable(str(path))
        files = table.file_uris()
        if not files:
            continue
        relation = duckdb.read_parquet(files)
        assert tuple(relation.columns) == TABLES[name].names
        assert relation.shape[0] == pl.read_delta(str(path)).height


@pytest.mark.spark
def test_spark_reads_every_table(crawl: Path) -> None:
    """Spark reads a version's files, with the columns of the schema."""
    sql = pytest.importorskip("pyspark.sql", reason="no pyspark: pip install filbert[spark]")
    if shutil.which("java") is None:
        pytest.skip("no java on the path: Spark needs Java 17")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    for path, name in tables(crawl).items():
        files = DeltaTable(str(path)).file_uris()
        if files:
            assert tuple(spark.read.parquet(*files).columns) == TABLES[name].names


def test_warcio_finds_no_fault(crawl: Path) -> None:
    """`warcio check` passes on every capture file."""
    files = sorted(str(path) for path in crawl.glob("segments/*/content/*.warc.gz"))
    assert files
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", *files],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]

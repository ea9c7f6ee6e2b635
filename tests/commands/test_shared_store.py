"""Stores on shared file systems and in object storage, as the guide describes them."""

import re
import shutil
from pathlib import Path

import pytest
from command import deepbench

from deepbench_ops.storage import json_cache

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "how-to" / "query_results.md"
MACHINES = ("apple-iphone-7", "nvidia-m40")
QUESTION = "SELECT machine, count(*) AS times FROM times GROUP BY machine ORDER BY machine"


def blocks():
    """The Python of the guide, in order."""
    return re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def project(tmp_path):
    """A project folder with results of two machines."""
    for machine in MACHINES:
        shutil.copytree(ROOT / "results" / machine, tmp_path / "here" / "results" / machine)
    return tmp_path / "here"


def test_a_store_may_lie_elsewhere(project, tmp_path):
    """Built and asked there; nothing is written next to the results."""
    options = ("--store", str(tmp_path / "shared"), "--results", str(project / "results"))
    assert 0 == deepbench("store", "build", *options)[0]
    status, out, _ = deepbench("query", QUESTION, "--format", "csv", *options)
    assert (0, ["machine", *MACHINES]) == (status, [row.split(",")[0] for row in out.split()])
    assert ["results"] == [path.name for path in project.iterdir()]


def test_a_store_in_object_storage_is_asked_and_copied_back(project, tmp_path, monkeypatch, capsys):
    """By the lines of the guide, against a server that speaks the protocol of S3."""
    moto = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    fs = pytest.importorskip("pyarrow.fs")
    options = ("--results", str(project / "results"))
    assert 0 == deepbench("store", "build", *options)[0]
    expected = deepbench("query", QUESTION, "--format", "csv", *options)[1]
    server = moto.ThreadedMotoServer("127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        bucket = fs.S3FileSystem(endpoint_override=address, allow_bucket_creation=True)
        bucket.create_dir("lab")
        put, ask, get = (each.replace("http://minio.lab:9000", address) for each in blocks())
        monkeypatch.chdir(project)
        exec(put, {})
        capsys.readouterr()
        exec(ask, {})
        said = capsys.readouterr().out
        assert [True, True] == [machine in said for machine in MACHINES]
        monkeypatch.chdir(tmp_path)
        exec(get, {})
    finally:
        server.stop()
    copied = ("--store", str(tmp_path / "store"), *options)
    assert expected == deepbench("query", QUESTION, "--format", "csv", *copied)[1]


def test_a_copy_without_its_results_is_asked(project, tmp_path):
    """With a line that says so and status 0; a build removes no file that it cannot make again."""
    assert 0 == deepbench("store", "build", "--results", str(project / "results"))[0]
    expected = deepbench("query", QUESTION, "--results", str(project / "results"))[1]
    there = tmp_path / "there"
    shutil.copytree(project / "store", there / "store")
    (there / "results").mkdir()
    options = ("--results", str(there / "results"))
    line = f"{there / 'results'} holds no results: {there / 'store'} is read as it was copied"
    for _ in range(2):
        assert (0, expected, f"deepbench: warning: {line}\n") == deepbench(
            "query", QUESTION, *options
        )
        status, _, err = deepbench("store", "build", *options)
        assert (3, True) == (status, "the store, which was made elsewhere, is kept" in err)
    status, out, err = deepbench("store", "status", *options)
    assert (3, len(MACHINES)) == (status, out.count("a copy"))
    assert "whether the copy is up to date is not known" in err


def test_a_copy_that_an_earlier_version_made_names_the_tables_that_it_lacks(project, tmp_path):
    """It has no rounds then, and an answer about them would be empty without a word."""
    assert 0 == deepbench("store", "build", "--results", str(project / "results"))[0]
    there = tmp_path / "there"
    shutil.copytree(project / "store", there / "store")
    (there / "results").mkdir()
    shutil.rmtree(there / "store" / "rounds")
    for machine in MACHINES:
        about = there / "store" / "checksums" / machine
        digest, checksums, days = json_cache.read(about)
        del checksums["rounds"]
        json_cache.write(about, [digest, checksums, days])
    asked = ("query", "--format", "csv", "--results", str(there / "results"))
    status, out, err = deepbench(*asked, "SELECT count(*) AS n FROM rounds")
    assert (1, "n\n0\n") == (status, out)
    assert err.endswith("as it was copied, made by an earlier version without all of rounds\n")

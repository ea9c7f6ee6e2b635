"""Dates of the release table: what an index page says, in both of its forms."""

import importlib.util
import json
from pathlib import Path

import pytest
from packaging.version import Version

SCRIPT = Path(__file__).parents[1] / "scripts" / "release_dates.py"
FILES = [
    ("numpy-2.0.0-cp311-cp311-linux.whl", "2024-06-16T10:00:00Z"),
    ("numpy-2.0.0.tar.gz", "2024-06-15T23:59:00Z"),
    ("numpy-2.0.1.tar.gz", "2024-07-21T00:00:00Z"),
    ("numpy-2.1.0rc1.tar.gz", "2024-08-01T00:00:00Z"),
    ("numpy-2.1.0.zip", "2024-08-18T00:00:00Z"),
    ("numpy-1.26.4.tar.gz", "2024-02-05T00:00:00Z"),
    ("numpy-not-a-version.exe", "2006-12-02T00:00:00Z"),
]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("release_dates", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_forms_of_an_index_page_say_the_same(script):
    """JSON and HTML answers give the same names and times; files without a time are left out."""
    page = {"files": [{"filename": name, "upload-time": time} for name, time in FILES]}
    page["files"].append({"filename": "numpy-9.0.tar.gz"})
    links = [
        f'<a href="https://example.org/{name}#sha256=0" data-upload-time="{time}">{name}</a>'
        for name, time in FILES
    ]
    html = "".join([*links, '<a href="numpy-9.0.tar.gz">undated</a>'])
    kind = "application/vnd.pypi.simple.v1+json"
    assert script.uploads(kind, json.dumps(page)) == FILES
    assert script.uploads("text/html; charset=utf-8", html) == FILES


def test_a_release_is_dated_by_its_first_upload(script):
    """The earliest file of a final release counts; candidates and other files do not."""
    expected = {
        Version("1.26.4"): "2024-02-05",
        Version("2.0.0"): "2024-06-15",
        Version("2.0.1"): "2024-07-21",
        Version("2.1.0"): "2024-08-18",
    }
    assert script.first_dates("numpy", FILES) == expected


def test_the_last_patch_of_every_minor_is_listed(script):
    """Of each minor from 2.0 on, only the highest patch is asked for without versions."""
    days = script.first_dates("numpy", FILES)
    assert script.last_patches(days) == [Version("2.0.1"), Version("2.1.0")]

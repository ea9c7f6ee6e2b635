"""What an index page says of releases, in both of its forms, and the companions of a day."""

import datetime
import json

import pytest
from packaging.tags import Tag
from packaging.version import Version

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import companions, index
from deepbench_ops.releases.index import Index, Upload, dated, uploads

FILES = [
    Upload("numpy-2.0.0-cp311-cp311-linux_x86_64.whl", "2024-06-16"),
    Upload("numpy-2.0.0-py3-none-any.whl", "2024-06-17"),
    Upload("numpy-2.0.0.tar.gz", "2024-06-15"),
    Upload("numpy-2.0.1-cp310-cp310-linux_x86_64.whl", "2024-07-21"),
    Upload("numpy-2.0.2-py3-none-any.whl", "2024-08-26", yanked=True),
    Upload("numpy-2.1.0rc1-py3-none-any.whl", "2024-08-01"),
    Upload("numpy-2.1.0-py3-none-any.whl", "2024-08-18"),
    Upload("numpy-2.2.0-py3-none-any.whl", ""),
    Upload("numpy-not-a-version.exe", "2006-12-02"),
]
TAGS = frozenset({Tag("cp311", "cp311", "linux_x86_64"), Tag("py3", "none", "any")})


def test_both_forms_of_an_index_page_say_the_same():
    """JSON and HTML answers give the same names, days and withdrawals."""
    page = {
        "files": [
            {"filename": file.name, "upload-time": f"{file.day}T10:00:00Z" if file.day else None}
            | ({"yanked": "broken"} if file.yanked else {})
            for file in FILES
        ]
    }
    links = [
        f'<a href="https://example.org/{file.name}#sha256=0"'
        f" {f'data-upload-time={file.day}T10:00:00Z' if file.day else ''}"
        f" {'data-yanked=broken' if file.yanked else ''}>{file.name}</a>"
        for file in FILES
    ]
    assert FILES == uploads("application/vnd.pypi.simple.v1+json", json.dumps(page))
    assert FILES == uploads("text/html; charset=utf-8", "".join(links))


def test_releases_are_those_that_install_here_dated_by_their_first_wheel():
    """Candidates, other Pythons, withdrawn and undated files do not count, nor do archives."""
    expected = {
        Version("2.0.0"): datetime.date(2024, 6, 16),
        Version("2.1.0"): datetime.date(2024, 8, 18),
    }
    assert expected == dated(FILES, TAGS)


def served(monkeypatch, projects):
    """Let the index hold these projects: of each, days by version."""
    pages = {
        name: [Upload(f"{name}-{v}-py3-none-any.whl", day) for v, day in days.items()]
        for name, days in projects.items()
    }
    monkeypatch.setattr(index, "fetch", pages.__getitem__)


def test_companions_are_those_of_the_day(monkeypatch):
    """Beside a release stands what was newest when it came out, below a ceiling if there is one."""
    served(
        monkeypatch,
        {
            "numpy": {"1.26.4": "2024-02-05", "2.0.0": "2024-06-16", "2.1.0": "2024-08-18"},
            "onnx": {"1.16.0": "2024-03-25", "1.17.0": "2024-10-01"},
            "protobuf": {"5.27.0": "2024-05-22"},
        },
    )
    for day, numpy in (("2024-08-20", "1.26.4"), ("2024-09-03", "2.1.0")):
        row = companions.row(
            "onnxruntime", Version("1.19.0"), datetime.date.fromisoformat(day), Index()
        )
        assert (f"numpy=={numpy}", "onnx==1.16.0", "protobuf==5.27.0") == row.pins
        assert ("onnxruntime-1.19.0", True) == (row.name, row.on_request)


def test_a_ceiling_without_an_end_stands(monkeypatch):
    """MindSpore is built for numpy 1, and nobody knows until when."""
    served(monkeypatch, {"numpy": {"1.26.4": "2024-02-05", "2.4.6": "2026-05-01"}})
    row = companions.row("mindspore", Version("3.0.0"), datetime.date(2030, 1, 1), Index())
    assert ("numpy==1.26.4",) == row.pins


def test_jaxlib_is_the_highest_of_the_same_minor_that_is_not_above(monkeypatch):
    """jax sometimes comes out without a jaxlib; without any of its minor it has no row."""
    beside = dict.fromkeys(("0.4.20", "0.4.23", "0.5.0"), "2023-11-01")
    others = {name: {"1.0": "2023-01-01"} for name in ("numpy", "scipy", "ml_dtypes")}
    served(monkeypatch, {"jaxlib": beside, **others})
    day = datetime.date(2023, 12, 1)
    assert "jaxlib==0.4.20" == companions.row("jax", Version("0.4.22"), day, Index()).pins[0]
    for alone in ("0.4.19", "0.4.26", "0.6.0"):
        assert companions.row("jax", Version(alone), day, Index()) is None


def test_an_index_without_upload_times_is_told(monkeypatch):
    """A date must come from somewhere."""
    monkeypatch.setattr(index, "fetch", lambda project: [Upload("jax-1-py3-none-any.whl", "")])
    with pytest.raises(DeepbenchError, match="no upload times for jax: give --date"):
        Index().releases("jax")

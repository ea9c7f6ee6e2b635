"""The release table: rows that are read or refused, and the parts of a hash."""

import datetime
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from deepbench_ops.backends import NAMES
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import release_table
from deepbench_ops.releases.companion_pins import rule_of
from deepbench_ops.releases.release_table import Release

HEADER = "framework,version,date,pins,on_request,index\n"

versions = st.builds("{}.{}.{}".format, st.integers(0, 3), st.integers(0, 30), st.integers(0, 9))
releases = st.builds(
    Release,
    framework=st.sampled_from(["numpy", "torch"]),
    version=versions,
    date=st.dates(datetime.date(2020, 1, 1), datetime.date(2030, 1, 1)),
    pins=st.sampled_from([(), ("scipy==1.10.1",)]),
    on_request=st.booleans(),
    index=st.sampled_from(["", "https://example.org/simple"]),
)
tables = st.lists(releases, min_size=1, max_size=12, unique_by=lambda r: (r.framework, r.version))


def write(path: Path, *rows: str) -> Path:
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def as_row(release: Release) -> str:
    wanted = "yes" if release.on_request else "no"
    cells = (release.framework, release.version, str(release.date), " ".join(release.pins))
    return ",".join((*cells, wanted, release.index))


def refusal(tmp_path: Path, *rows: str) -> str:
    with pytest.raises(DeepbenchError) as error:
        release_table.load(write(tmp_path / "releases.csv", *rows))
    text = str(error.value)
    assert "\n" not in text
    return text.removeprefix(str(tmp_path / "releases.csv"))


def test_a_row_is_read_as_it_stands(tmp_path):
    """Every column of a row arrives in the release, pins split at spaces."""
    path = write(
        tmp_path / "t.csv",
        "torch,2.0.1,2023-05-08,numpy==1.24.4 scipy==1.10.1,yes,https://example.org/simple",
    )
    expected = Release(
        framework="torch",
        version="2.0.1",
        date=datetime.date(2023, 5, 8),
        pins=("numpy==1.24.4", "scipy==1.10.1"),
        on_request=True,
        index="https://example.org/simple",
    )
    assert (expected,) == release_table.load(path)


def test_a_hash_is_the_sha1_of_the_requirement():
    """Results of a release are filed under the sha1 of its requirement and nothing else."""
    release = Release("numpy", "1.26.4", datetime.date(2024, 2, 5))
    assert hashlib.sha1(b"numpy==1.26.4").hexdigest() == release.hash
    assert release.hash[:8] == "49f3e332"


@given(tables, releases)
def test_adding_a_release_moves_no_other_hash(tmp_path_factory, rows, added):
    """With one row more, every older row keeps its hash and its place among the others."""
    before = [r for r in rows if (r.framework, r.version) != (added.framework, added.version)]
    folder = tmp_path_factory.mktemp("table")
    after = write(folder / "after.csv", *map(as_row, [added, *before]))
    if not before:
        assert [added.hash] == [release.hash for release in release_table.load(after)]
        return
    plain = write(folder / "before.csv", *map(as_row, before))
    expected = {release.name: release.hash for release in release_table.load(plain)}
    found = {release.name: release.hash for release in release_table.load(after)}
    assert expected | {added.name: added.hash} == found


@given(tables)
def test_a_timeline_runs_by_version_within_a_framework(rows):
    """However dates fall, the releases of one framework are in order of version."""
    ordered = release_table.timeline(rows)
    assert len(rows) == len(ordered)
    for framework in ("numpy", "torch"):
        found = [Version(r.version) for r in ordered if r.framework == framework]
        assert sorted(found) == found


def test_frameworks_mix_by_date():
    """Releases of different frameworks are in order of date."""
    rows = [
        Release("torch", "2.0.0", datetime.date(2023, 3, 1)),
        Release("numpy", "1.1.0", datetime.date(2024, 1, 1)),
        Release("numpy", "1.0.0", datetime.date(2022, 1, 1)),
    ]
    expected = ["numpy-1.0.0", "torch-2.0.0", "numpy-1.1.0"]
    assert expected == [release.name for release in release_table.timeline(rows)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            "../jax,1.0,2024-01-01,,no,",
            "'../jax' is no framework's name: write one of "
            + ", ".join([*NAMES, release_table.PUBLISHED]),
        ),
        ("numpy,one,2024-01-01,,no,", "version is 'one': write it like 2.13.0"),
        ("numpy,1.0-1,2024-01-01,,no,", "version is '1.0-1': write '1.0.post1'"),
        ("numpy,1.0,01/02/2024,,no,", "date is '01/02/2024': write it as YYYY-MM-DD"),
        ("numpy,1.0,2024-13-01,,no,", "date is '2024-13-01': write it as YYYY-MM-DD"),
        (
            "numpy,1.0,2024-01-01,scipy>=1,no,",
            "pin 'scipy>=1' is not exact: write it like scipy==1.10.1",
        ),
        ("numpy,1.0,2024-01-01,,maybe,", "on_request is 'maybe': write yes or no"),
        (
            "numpy,1.0,2024-01-01,,no,the-usual",
            "index is 'the-usual': write the URL of a package index",
        ),
        (
            "numpy,1.0,2024-01-01,,no,https://t0ken@host/simple",
            "index is 'https://****@host/simple': leave out its name and password, and write them"
            " into ~/.netrc or pip.conf",
        ),
        ("numpy,1.0,2024-01-01", "a row needs exactly 6 cells"),
        ("numpy,1.0,2024-01-01,,no,,", "a row needs exactly 6 cells"),
    ],
)
def test_a_wrong_row_names_its_line_its_value_and_the_mend(tmp_path, row, expected):
    """A mistake in a row is reported in one line that begins with file and line."""
    good = "numpy,0.1.0,2020-01-01,,no,"
    assert f", line 3: {expected}" == refusal(tmp_path, good, row)


def test_rows_of_an_absent_framework_are_kept_and_named_once(tmp_path, capsys):
    """Its releases stay in the timeline, and are not measured; one line says what to do."""
    rows = [f"absent,{number}.0,2024-01-01,,no," for number in (1, 2)]
    path = write(tmp_path / "table.csv", "numpy,1.0,2020-01-01,,no,", *rows)

    found = release_table.load(path)

    measured = {release.name: release.measurable for release in found}
    assert {"numpy-1.0": True, "absent-1.0": False, "absent-2.0": False} == measured
    (line,) = capsys.readouterr().err.splitlines()
    names = ", ".join(NAMES)
    expected = (
        f"deepbench: warning: {path}, line 3: no installed package brings the framework absent: its"
        f" releases are shown, but not measured; install that package, or write one of {names}"
    )
    assert expected == line


def test_a_release_listed_twice_is_refused(tmp_path):
    """The second row of a release is an error that names the first, however it is written."""
    row = "numpy,1.26.4,2024-02-05,,no,"
    expected = ", line 3: numpy-1.26.4 is already on line 2: remove one of the two"
    assert expected == refusal(tmp_path, row, row)
    same = ("numpy,1.0,2024-02-05,,no,", "numpy,1.0.0,2024-02-05,,no,")
    expected = ", line 3: numpy-1.0.0 is already on line 2: remove one of the two"
    assert expected == refusal(tmp_path, *same)


def test_an_empty_table_is_refused(tmp_path):
    """A table without a row is an error, not an empty timeline."""
    assert refusal(tmp_path) == " lists no release: add a row"


def test_a_wrong_header_is_refused(tmp_path):
    """Columns that are missing or differently named are reported before any row is read."""
    path = tmp_path / "t.csv"
    path.write_text("framework,version\nnumpy,1.0\n", encoding="utf-8")
    with pytest.raises(DeepbenchError, match="line 1: the columns are 'framework,version'"):
        release_table.load(path)


def test_a_missing_or_unreadable_table_is_one_line(tmp_path):
    """No file, and a file that is no text, are errors that name the path."""
    with pytest.raises(DeepbenchError, match=r"none\.csv: No such file"):
        release_table.load(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DeepbenchError, match="is not a CSV file in UTF-8"):
        release_table.load(tmp_path / "binary.csv")


FEWEST = {
    "numpy": 40,
    "torch": 30,
    "jax": 40,
    "onnxruntime": 35,
    "openvino": 25,
    "tensorflow": 19,
    "mindspore": 5,
}
"""Fewest releases of frameworks with a long history; a new one needs no entry."""


@pytest.mark.parametrize("framework", NAMES)
def test_the_table_holds_a_history_of_every_framework(framework):
    """From the oldest that is listed on, each with the companions that its rule names."""
    listed = [release for release in release_table.load() if release.framework == framework]
    rule = rule_of(framework)
    assert FEWEST.get(framework, 1) <= len(listed)
    assert Version(rule.oldest) <= Version(listed[0].version)
    for release in listed:
        pinned = {pin.partition("==")[0] for pin in release.pins}
        assert {*rule.companions, *filter(None, [rule.same])} == pinned, release.name


def test_large_installs_are_measured_on_request():
    """A bare run takes numpy and the torch whose build for the cpu is at hand."""
    asked = {release.name for release in release_table.measurable() if not release.on_request}
    assert {"numpy", "torch"} == {name.partition("-")[0] for name in asked}
    assert ["torch-2.13.0"] == [name for name in asked if name.startswith("torch")]


def test_a_row_that_cannot_be_read_again_is_not_written(tmp_path):
    """Appending leaves a table that loads, or the one that was there."""
    path = tmp_path / "releases.csv"
    path.write_text(f"{HEADER}numpy,0.1.0,2020-01-01,,no,\n")
    before = path.read_text()
    odd = Release("numpy", "0.2.0", datetime.date(2020, 2, 1), index="file:///a,b/wheels/")
    assert 1 == release_table.append(path, [odd])
    assert odd == release_table.load(path)[-1]
    path.write_text(before)
    with pytest.raises(DeepbenchError, match=f"{path}, line 3: .* write the URL of a package"):
        release_table.append(
            path, [Release("numpy", "0.3.0", datetime.date(2020, 3, 1), index="nowhere")]
        )
    assert (before, [path]) == (path.read_text(), list(tmp_path.glob("[!.]*")))


def test_a_row_is_added_to_a_table_without_a_newline_at_its_end(tmp_path):
    """As some editors leave it; the rows that were there stay as they are."""
    path = tmp_path / "releases.csv"
    path.write_bytes(f"{HEADER}numpy,0.1.0,2020-01-01,,no,".replace("\n", "\r\n").encode())
    before = path.read_bytes()
    assert 1 == release_table.append(path, [Release("numpy", "0.2.0", datetime.date(2020, 2, 1))])
    assert before + b"\nnumpy,0.2.0,2020-02-01,,no,\n" == path.read_bytes()

"""The cache of results for publishing: its content, and when results are read again."""

import json
import os
import pickle
import shutil
import signal
import time
from datetime import date
from pathlib import Path

import pytest

pytest.importorskip("asv", reason="pages are written by asv publish")
import example_points
import published_site

from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.pages import (
    build,
    cached_line_encoding,
    machine_cache,
    machine_data,
    page_process,
)
from deepbench_ops.pages.machine_cache import MachineCache
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import input_digest


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "here"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("1")
    return folder


def computed(machine: Path, key: str = "") -> bool:
    """Whether the machine's value had to be computed; it is in the cache afterwards."""
    calls = []
    cache = MachineCache(machine.parents[1] / "cache", key)
    assert {machine: "value"} == cache.values([machine], lambda _: calls.append(1) or "value")
    cache.write()
    return bool(calls)


def test_a_stored_value_is_not_computed_again(machine: Path) -> None:
    """The second publishing reads the value from its file."""
    assert [True, False] == [computed(machine), computed(machine)]


def test_new_and_changed_files_and_other_releases_are_computed(machine: Path) -> None:
    """Every change of an input invalidates the stored value once."""
    computed(machine)
    (machine / "b.jsonl").write_text("{}")
    assert [True, False] == [computed(machine), computed(machine)]
    (machine / "a.json").write_text("2")
    assert [True, False] == [computed(machine), computed(machine)]
    assert [True, False] == [computed(machine, "releases"), computed(machine, "releases")]
    (machine / "ensembles").mkdir()
    (machine / "ensembles" / "numpy.jsonl.gz").write_bytes(b"rounds")
    assert [True, False] == [computed(machine), computed(machine)]


def test_another_program_computes_again(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts are computed with numpy and scipy, whose versions may round differently."""
    computed(machine)
    program = input_digest.of_program()
    monkeypatch.setattr(input_digest, "of_program", lambda: f"{program}, numpy 99.0")
    assert [True, False] == [computed(machine), computed(machine)]


@pytest.mark.parametrize("content", [b"", b"no digest", b"\xff\xfe", None])
def test_a_broken_file_is_computed_again(machine: Path, content: bytes | None) -> None:
    """None stands for the file without its last five bytes."""
    computed(machine)
    (file,) = (machine.parents[1] / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:-5] if content is None else content)
    assert [True, False] == [computed(machine), computed(machine)]


@pytest.mark.parametrize("bit", range(8))
def test_one_flipped_bit_anywhere_is_noticed(machine: Path, bit: int) -> None:
    """The checksum covers every byte of the file."""
    computed(machine)
    (file,) = (machine.parents[1] / "cache").iterdir()
    whole = file.read_bytes()
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << bit
        file.write_bytes(flipped)
        assert computed(machine)


def test_a_planted_pickle_is_not_executed(machine: Path) -> None:
    """A file with a pickle behind its first line is computed again."""
    computed(machine)
    (file,) = (machine.parents[1] / "cache").iterdir()
    planted = machine / "planted"
    first_line = file.read_bytes().partition(b"\n")[0]
    file.write_bytes(first_line + b"\n" + pickle.dumps(Touch(planted)))
    assert computed(machine)
    assert not planted.exists()


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("stored", [[], {}, {"lines": 1}, 7, "text"])
def test_a_stored_value_of_another_form_is_computed_again(machine: Path, stored: object) -> None:
    """A valid checksum does not make JSON the lines of a machine."""
    cache = MachineCache(
        machine.parents[1] / "cache", encode=lambda _: stored, decode=cached_line_encoding.decode
    )
    cache.values([machine], lambda _: 0)
    cache.write()
    assert {machine: "value"} == cache.values([machine], lambda _: "value")


def test_changes_of_a_line_with_an_unsteady_point_come_back_as_they_were() -> None:
    """Changes count the steady points alone, before and after the cache."""
    days = [Release("torch", f"2.{n}.0", date(2026, n + 1, 1)) for n in range(10)]
    line = Line(
        tuple(
            example_points.point(
                release=release,
                seconds=seconds,
                rounds=(seconds * 0.999, seconds * 1.001),
                unsteady="processes disagree" if n == 1 else "",
            )
            for n, (release, seconds) in enumerate(zip(days, [1.0] * 5 + [2.0] * 5, strict=True))
        )
    )
    assert [(days[4], days[5])] == [(s.before.release, s.after.release) for s in line.changes]
    stored = json.loads(
        json.dumps(cached_line_encoding.encode(([line], MachineRecord("box", {}), [])))
    )
    ((back,), _, _) = cached_line_encoding.decode(stored)
    assert line.changes == back.changes


@pytest.fixture
def four_machines(machine: Path) -> list[Path]:
    folders = [machine.with_name(name) for name in ("d", "c", "b", "a")]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "a.json").write_text("1" * 10**number)
    return folders


def process_of(machine: Path) -> list[str | int]:
    """Stands for a computation: names the machine and the process."""
    return [machine.name, os.getpid()]


def test_two_processes_compute_the_values_of_several_machines(four_machines: list[Path]) -> None:
    """They come in the order of the machines, and the next publishing finds all of them stored."""
    cache = MachineCache(four_machines[0].parents[1] / "cache")
    this = os.getpid()

    def compute(machine: Path) -> list[str | int]:
        while os.getpid() == this and not any(cache.folder.glob("[!.]*")):  # one of the fork's
            time.sleep(0.001)
        return process_of(machine)

    found = cache.values(four_machines, compute)
    assert four_machines == list(found)
    assert [each.name for each in four_machines] == [name for name, _ in found.values()]
    assert 2 == len({process for _, process in found.values()})
    cache.write()
    assert found == MachineCache(cache.folder).values(four_machines, lambda _: None)


def test_values_of_a_killed_process_are_computed_here(four_machines: list[Path]) -> None:
    """A process may be killed for want of memory."""
    this = os.getpid()

    def compute(machine: Path) -> list[str | int]:
        if os.getpid() != this:
            os.kill(os.getpid(), signal.SIGKILL)
        return process_of(machine)

    found = MachineCache(four_machines[0].parents[1] / "cache").values(four_machines, compute)
    assert {this} == {process for _, process in found.values()}


def test_values_that_cannot_be_stored_are_computed_here(
    four_machines: list[Path], monkeypatch
) -> None:
    """As on a full disk."""

    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(machine_cache.cache_file, "write", full)
    cache = MachineCache(four_machines[0].parents[1] / "cache")
    found = cache.values(four_machines, process_of)
    assert {os.getpid()} == {process for _, process in found.values()}


def test_the_file_of_a_removed_machine_is_removed(machine: Path) -> None:
    """Files of other programs in the folder stay."""
    computed(machine)
    other, foreign = machine.with_name("there"), machine.parents[1] / "cache" / "foreign.txt"
    machine.rename(other)
    foreign.touch()
    assert computed(other)
    assert 2 == len(list(foreign.parent.iterdir()))
    assert foreign.exists()


def derived(machine: Path, key: str, value: str) -> str:
    """The derived value of a machine, which is `value` if it had to be computed."""
    cache = MachineCache(machine.parents[1] / "cache")
    cache.values([machine], lambda _: "first")
    return cache.derived("further", lambda _: key, str).value(machine.name, lambda: value)


def test_a_derived_value_is_stored_until_its_key_or_an_input_changes(machine: Path) -> None:
    """It depends on everything that the machine's first value depends on."""
    assert ["one", "one"] == [derived(machine, "", each) for each in ("one", "two")]
    assert ["three", "three"] == [derived(machine, "key", each) for each in ("three", "four")]
    (machine / "a.json").write_text("2")
    assert derived(machine, "key", "five") == "five"


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("../index.js", 'deepbench.receive("");\n'),
        ("lines/0a/../../x.js", 'deepbench.receive("");\n'),
        ("newest/0a.js", 'deepbench.receive("");alert(1);\n'),
        ("newest/0a.js", 7),
    ],
)
def test_planted_scripts_and_paths_are_no_data_files(path: str, script: object) -> None:
    """A cache may be written by anyone: its scripts hold data alone, in the folder of data."""
    with pytest.raises((ValueError, TypeError)):
        machine_data.decode({path: script})


def test_data_files_come_back_from_a_cache() -> None:
    """The check of paths and scripts accepts those that are written."""
    box = MachineRecord("box", {})
    found = machine_data.scripts(box, [], [], [], {}, {})
    assert [f"newest/{box.key}.js", f"stacks/{box.key}.js"] == list(found)
    assert found == machine_data.decode(found)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    published_site.publish(folder)
    return folder


def pages(folder: Path) -> dict[str, str]:
    """Content of all our own pages and their data files."""
    html = folder / "html"
    found = [*html.glob("*.html"), *(html / "data").rglob("*.js")]
    return {str(path.relative_to(html)): path.read_text() for path in found}


def test_pages_are_the_same_without_a_second_process_and_from_the_cache(
    site: Path, monkeypatch
) -> None:
    """Published again from the cache, and by one process without a cache."""
    first = pages(site)
    assert "data/index.js" in first
    published_site.published(site)
    assert pages(site) == first
    monkeypatch.setattr(page_process, "FORKS", False)
    shutil.rmtree(site / ".asv" / "deepbench-lines")
    published_site.published(site)
    assert pages(site) == first


def test_the_first_process_replaces_a_killed_second_one(site: Path, monkeypatch) -> None:
    """The pages are then written by the process that asv runs in."""
    first = pages(site)
    killed = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
    monkeypatch.setattr(page_process, "_write_and_send", killed)
    published_site.published(site)
    assert pages(site) == first


def test_all_users_may_read_the_pages(site: Path) -> None:
    """The folder that they were written in is private."""
    published_site.published(site)
    assert (site / "html").stat().st_mode & 0o777 == 0o755


def test_an_exception_in_the_pages_stops_the_publishing(site: Path, monkeypatch) -> None:
    """It comes from the other process; nothing unfinished is left."""

    def stopped(*_: object) -> None:
        raise RuntimeError("no pages today")

    monkeypatch.setattr(build.site_data, "write", stopped)
    with pytest.raises(RuntimeError, match="no pages today"):
        published_site.published(site)
    assert not list((site / ".asv").glob("pages-*"))

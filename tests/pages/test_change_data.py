"""Data of the page of releases, from recorded results and from made-up lines."""

from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from published_site import unpacked

from deepbench_ops.analysis import kernel_lines, point_reading
from deepbench_ops.analysis.kernel_lines import Line
from deepbench_ops.analysis.points import Origin, Point
from deepbench_ops.analysis.shared_rounds import SharedStep
from deepbench_ops.analysis.verdict import Verdict
from deepbench_ops.pages import change_data
from deepbench_ops.pages.machine_record import MachineRecord
from deepbench_ops.releases import table_location
from deepbench_ops.releases.release_table import Release

RESULTS = Path(__file__).parents[2] / "results"
RELEASES = [
    Release("numpy", version, date(2024, month, 1), ("scipy==1.12.0",))
    for month, version in enumerate(("2.0", "2.1", "2.2"), 1)
]
PLACES = {release: place for place, release in enumerate(RELEASES)}
SLOWER = Verdict("slower", 1.5, 1.4, 1.6, 0.02, 1e-6, 10)


def point(release: Release, seconds: float, machine: str = "lab", **said: object) -> Point:
    plain = Point(
        machine=machine, release=release, family="gemm", set="training", operation="forward",
        problem_id="m1760_n128_k1760_NN", precision="float32", ranks=None, device="cpu",
        cache="warm", layout="published", execution="eager", seconds=seconds, low=None, high=None,
        samples=2, rounds=(seconds, seconds),
    )  # fmt: skip
    return plain._replace(**said)


def line(machine: str = "lab", **said: object) -> Line:
    """A line with one step that shared rounds call slower, and one that they call the same."""
    same = replace(SLOWER, kind="same", ratio=1.0, low=0.99, high=1.01)
    found = tuple(
        point(release, seconds, machine, **said)
        for release, seconds in zip(RELEASES, (1.0, 1.5, 1.5), strict=True)
    )
    return Line(found, ((0, SharedStep(SLOWER, "near")), (1, SharedStep(same, "near"))))


@pytest.fixture(scope="module")
def recorded() -> tuple[list[Line], dict[Release, int]]:
    """The lines of jax on a machine of the committed results, and the places of its releases."""
    timeline = table_location.load(RESULTS)
    known = {release.hash: release for release in timeline}
    found = point_reading.load(RESULTS, "epyc-7003-2core", known, rounds=True)
    own = [each for each in found if each.release.framework == "jax" and each.compared]
    releases = sorted({each.release for each in own}, key=lambda release: release.date)
    return kernel_lines.lines(own, timeline, fewest=1), {
        each: place for place, each in enumerate(releases)
    }


def test_a_release_counts_its_changes(recorded: tuple[list[Line], dict[Release, int]]) -> None:
    """jax 0.10.2 made 8 of 92 kernels slower and 11 faster; the counts are those of the lines."""
    found, places = recorded
    row = change_data.index_row("epyc-7003-2core", "jax", found, places)
    by_name = {release.name: place for release, place in places.items()}
    last = next(each for each in row["releases"] if each[0] == by_name["jax-0.10.2"])
    assert [92, 8, 11] == last[1:]
    slower = Counter(places[s.after.release] for each in found for s in each.changes if s.slower)
    assert dict(slower) == {each[0]: each[2] for each in row["releases"] if each[2]}


def test_every_kernel_has_its_times_and_changes(
    recorded: tuple[list[Line], dict[Release, int]],
) -> None:
    """The largest change of jax 0.10.2 is a convolution, 5.04 times slower."""
    found, places = recorded
    newest = max(places.values())
    kernels = change_data.kernels(found, places, change_data.changes_by_machine(found))
    assert len(found) == len(kernels["kernels"])
    changes = [
        (change[1], kernel)
        for kernel in kernels["kernels"]
        for change in kernel["changes"]
        if change[0] == newest
    ]
    ratio, kernel = max(changes, key=lambda pair: pair[0])
    assert pytest.approx(5.04, abs=0.01) == ratio
    family, problem_id, _ = kernels["problems"][kernel["problem"]]
    assert ("conv", "w700_h161_c1_n32_k32_r5_s20_pad0_0_stride2_2") == (family, problem_id)
    assert len(kernel["at"]) == len(kernel["seconds"])


def test_shared_rounds_are_evidence_of_each_step() -> None:
    """A step has its verdict, rounds and state; the same change elsewhere has its machine."""
    found = [line(), line("other")]
    own = change_data.evidence(found[0], PLACES, change_data.changes_by_machine(found))
    assert [[1, 1.5, 1.4, 1.6, [["other", 1.5]]]] == own["changes"]
    assert [["slower", 10, "near"], ["same", 10, "near"]] == [
        [step[1], *step[5:]] for step in own["steps"]
    ]
    assert "judged" not in own  # six processes are too few without shared rounds


def test_an_ensemble_and_implementations_are_named_once() -> None:
    """Points name their ensemble, its state and their ratio to the anchor by place."""
    origin = Origin("numpy", "numpy-2.0", 12, 1.5, 1.45, 1.55, (1.0, 2.0))
    notes = (("implementation", "openblas Zen"),)
    content = change_data.kernels([line(ensemble=origin, state="near", notes=notes)], PLACES, {
        change_data._change_key(shift): {} for shift in line().changes
    })  # fmt: skip
    (kernel,) = content["kernels"]
    assert [0, 12, "near", 1.5, 1.45, 1.55] == kernel["ensemble"][0]
    assert ["", "openblas Zen"] == content["implementations"]
    assert [["numpy", "numpy-2.0"]] == content["ensembles"]
    assert [2, 2, 2] == kernel["processes"]
    assert [1, 1, 1] == kernel["implementation"]
    assert "near" == kernel["state"]


def test_published_times_have_no_evidence() -> None:
    """Nothing is known about their noise."""
    day = Release("published", "2017.1.1", date(2017, 1, 1))
    assert {} == change_data.evidence(Line((point(day, 1.0),)), {day: 0}, {})


def test_files_are_written_by_machine_and_framework(tmp_path: Path) -> None:
    """Also where a name holds markup; without lines there is an empty index."""
    marked, machine = [line("<b>")], MachineRecord("<b>", {})
    change_data.write_index(tmp_path, marked, PLACES)
    index = unpacked((tmp_path / "data/changes/index.js").read_text())
    assert '"machine":"<b>"' in index
    everywhere = change_data.changes_by_machine(marked)
    assert ["numpy"] == list(change_data.by_framework(machine, marked, PLACES, everywhere))
    change_data.write_index(tmp_path, [], {})
    assert "[]" == unpacked((tmp_path / "data/changes/index.js").read_text())


def test_the_text_about_other_machines_changes_with_their_ratios() -> None:
    """Stored data files are made again where another machine shows a change in another size."""
    own, other = line("a"), line("b")
    alone = change_data.elsewhere([own], change_data.changes_by_machine([own]))
    both = change_data.changes_by_machine([own, other])
    assert alone != change_data.elsewhere([own], both)
    assert change_data.elsewhere([own], both) == change_data.elsewhere([own], dict(both))

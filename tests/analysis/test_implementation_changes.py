"""Another implementation than before is news, also where the time did not change."""

from datetime import date

from example_points import GEMMS, point

from deepbench_ops.analysis import implementation_changes, kernel_lines
from deepbench_ops.releases.release_table import Release

OLD, NEW = (Release("numpy", name, date(2026, 1, day)) for day, name in ((1, "1.0"), (2, "2.0")))


def ran(release: Release, name: str, **said):
    """A point whose record names its implementation."""
    return point(release=release, notes=(("implementation", name),) if name else (), **said)


def test_kernels_that_switched_are_put_together() -> None:
    """Two kernels with the same switch are one line, most kernels first."""
    pairs = [
        (ran(OLD, "openblas Haswell", problem_id=id), ran(NEW, "openblas Zen", problem_id=id))
        for id in GEMMS[:2]
    ]
    pairs.append((ran(OLD, "a", problem_id=GEMMS[2]), ran(NEW, "b", problem_id=GEMMS[2])))
    first, second = implementation_changes.switches(pairs)
    assert (2, 1) == (len(first.points), len(second.points))
    assert (
        "box: with numpy-2.0 2 of gemm ran openblas Zen (before, numpy-1.0: openblas Haswell)"
        == first.text
    )
    assert "openblas Zen" == first.as_data()["now"]
    assert [first.text, second.text] == implementation_changes.remarks([first, second])


def test_only_two_known_names_of_a_framework_make_a_switch() -> None:
    """Equal or unknown names, other machines and other frameworks do not."""
    one = ran(OLD, "a")
    torch = Release("torch", "2.0", date(2026, 1, 1))
    others = [ran(NEW, "a"), ran(NEW, ""), ran(NEW, "b", machine="b"), ran(torch, "b")]
    assert [] == implementation_changes.switches((one, other) for other in others)


def test_a_release_without_a_name_is_passed_over() -> None:
    """On a line the releases whose implementation is known are neighbours."""
    middle = Release("numpy", "1.5", date(2026, 1, 1))
    points = [ran(OLD, "a"), ran(middle, ""), ran(NEW, "b")]
    found = implementation_changes.switches(
        implementation_changes.of_lines(kernel_lines.lines(points, [OLD, middle, NEW]))
    )
    assert [(OLD, NEW)] == [(switch.before, switch.after) for switch in found]


def test_older_records_name_the_primitive() -> None:
    """Records of convolutions had their implementation among the notes, as `primitive`."""
    old = point(notes=(("primitive", "oneDNN jit:avx2"),))
    assert "oneDNN jit:avx2" == old.implementation
    assert "" == point().implementation

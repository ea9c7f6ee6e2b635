"""Cores of one last-level cache or of two are chosen by the system's description of caches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import core_choice, library_variables


def described(root, *domains):
    """Write caches as Linux describes them: a first-level one each, the last one shared."""
    for cpus in domains:
        shared = ",".join(map(str, cpus))
        for cpu in cpus:
            for index, (level, members) in enumerate([(1, str(cpu)), (2, str(cpu)), (3, shared)]):
                cache = root / f"cpu{cpu}" / "cache" / f"index{index}"
                cache.mkdir(parents=True)
                (cache / "level").write_text(f"{level}\n")
                (cache / "shared_cpu_list").write_text(members + "\n")
    (root / "cpufreq").mkdir(parents=True)
    return root


@pytest.fixture
def two(tmp_path):
    """A machine of two caches with four cores each, numbered in turns."""
    return described(tmp_path, [0, 2, 4, 6], [1, 3, 5, 7])


def test_near_cores_share_a_cache_and_far_ones_do_not(two) -> None:
    """The first two cores are of one cache, or of two; without a choice the order stays."""
    cpus = list(range(8))
    assert [[0, 2, 4, 6], [1, 3, 5, 7]] == core_choice.grouped(cpus, two)
    assert [0, 2, 4, 6, 1, 3, 5, 7] == core_choice.ordered(cpus, "near", two)
    assert cpus == core_choice.ordered(cpus, "far", two)
    assert cpus == core_choice.ordered(cpus, "", two)
    assert [2, 4, 1] == core_choice.ordered([1, 2, 4], "near", two)
    assert [2, 1, 4] == core_choice.ordered([1, 2, 4], "far", two)


@pytest.mark.parametrize(
    ("cpus", "count", "choice", "caches"),
    [
        (range(8), 4, "near", 1),
        (range(8), 2, "far", 2),
        ([0, 2], 2, "near", 1),
        ([0], 1, "", 1),
    ],
)
def test_what_can_be_placed_is_placed(two, cpus, count, choice, caches) -> None:
    """A choice that is not refused takes cores of as many caches as it says."""
    core_choice.demand(cpus, count, choice, two)
    taken = core_choice.ordered(list(cpus), choice, two)[:count]
    assert (count, caches) == (len(taken), len(core_choice.grouped(taken, two)))


@pytest.mark.parametrize(
    ("cpus", "count", "choice", "reason"),
    [
        (range(8), 5, "near", "no 5 allowed cores share"),
        ([0, 2], 2, "far", "all allowed cores share"),
        (range(8), 1, "near", "a single thread"),
    ],
)
def test_what_cannot_be_placed_is_one_line(two, cpus, count, choice, reason) -> None:
    """The line names the variable, the reason and the way out."""
    with pytest.raises(DeepbenchError, match=reason) as caught:
        core_choice.demand(cpus, count, choice, two)
    assert str(caught.value).startswith(f"DEEPBENCH_CORES={choice}: ")
    assert str(caught.value).endswith("; leave the variable out")


def test_a_machine_of_one_cache_has_no_choice(tmp_path) -> None:
    """One last-level cache, or none described, as in many virtual machines."""
    for root in (described(tmp_path / "one", [0, 1]), described(tmp_path / "none")):
        for choice in ("near", "far"):
            with pytest.raises(DeepbenchError, match="no two last-level caches"):
                core_choice.demand([0, 1], 2, choice, root)


def test_another_word_is_refused() -> None:
    """Only near and far are choices."""
    assert "far" == core_choice.asked({"DEEPBENCH_CORES": "far"})
    assert "" == core_choice.asked({})
    with pytest.raises(DeepbenchError, match="write near or far"):
        core_choice.asked({"DEEPBENCH_CORES": "close"})


def test_a_choice_is_a_setting_of_the_time() -> None:
    """Times under different choices are not compared, since their settings differ."""
    assert (("DEEPBENCH_CORES", "far"),) == library_variables.foreign({"DEEPBENCH_CORES": "far"})


@given(st.sets(st.integers(0, 7), min_size=1), st.sampled_from(["", "near", "far"]))
def test_every_core_is_taken_once(tmp_path_factory, cpus, choice) -> None:
    """No choice loses or doubles a core."""
    root = described(tmp_path_factory.mktemp("cpu"), [0, 2, 4, 6], [1, 3, 5, 7])
    assert sorted(cpus) == sorted(core_choice.ordered(sorted(cpus), choice, root))

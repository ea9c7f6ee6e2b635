"""The values of result files, as asv itself finds them."""

from itertools import product

from asv import results
from asv.results import Results
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import private_result_fields
from deepbench_ops.asv_adapter.publishing import asv_graphs

AXIS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)
AXES = st.lists(AXIS, min_size=0, max_size=3)
SECONDS = st.one_of(st.none(), st.just(float("nan")), st.floats(1e-6, 1e3))
asvs = results._compatible_results


@st.composite
def stored(draw) -> tuple[list[list[str]], list[float | None] | None]:
    """The parameters of a result, and its values: some are missing, or all of them."""
    axes = draw(AXES)
    count = len(list(product(*axes)))
    return axes, draw(st.one_of(st.none(), st.lists(SECONDS, min_size=count, max_size=count)))


@given(stored())
def test_each_value_is_asvs(result):
    """With its parameters, its statistics and its samples; missing ones are left out."""
    axes, seconds = result
    file = Results.unnamed()
    file._benchmark_params["one"], file._results["one"] = axes, seconds
    file._stats["one"] = seconds and [{"n": place} for place, _ in enumerate(seconds)]
    file._samples["one"] = None
    expected = [
        ("one", key, value, stat, None)
        for key, value, stat in zip(
            product(*axes),
            file.get_result_value("one", axes),
            file.get_result_stats("one", axes),
            strict=True,
        )
        if value is not None and value == value
    ]
    assert expected == [tuple(each) for each in private_result_fields.each(file)]


@given(stored(), st.booleans(), st.data())
def test_values_of_other_parameters_are_found_as_asv_finds_them(result, same, data):
    """Where a benchmark has more parameters than a result, fewer, others, or the same."""
    axes, seconds = result
    others = axes if same else [data.draw(AXIS) for _ in axes]
    found = asv_graphs.compatible(asvs)(seconds, axes, others)
    assert list(map(str, asvs(seconds, axes, others))) == list(map(str, found))


@given(
    before=st.lists(st.integers(0, 3), max_size=4),
    part=st.lists(st.integers(4, 9), min_size=1, max_size=3),
    after=st.lists(st.integers(0, 3), max_size=4),
)
def test_samples_that_are_taken_out_leave_the_others(before, part, after):
    """Of this point, in their order; other points, and others' samples, stay as they are."""
    file = Results.unnamed()
    file._benchmark_params["one"] = [["'x'", "'y'"], ["'z'"]]
    file._samples["one"] = [[*before, *part, *after], [*part]]
    for _ in range(2):
        private_result_fields.take_out(file, ("one", ("x", "z")), part)
        assert [[*before, *after] or None, part] == file._samples["one"]

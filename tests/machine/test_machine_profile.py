"""The profile of a machine: stored ones come back, and broken files are refused."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile

pytest.importorskip("asv", reason="machine entries are asv's: the `track` extra")


text = st.text(max_size=20)
value = st.none() | st.floats(min_value=0, exclude_min=True, allow_infinity=False)
plain_figures = st.builds(Figure, value, st.just("1/s"), st.just("data sheet: a page"))
figures = st.dictionaries(text, plain_figures, max_size=3)
profiles = st.builds(
    Profile,
    st.just("box"),
    text,
    st.dictionaries(text, text, max_size=3),
    st.dictionaries(text, figures, max_size=2),
    figures,
    text,
    st.dictionaries(text, figures, max_size=2),
)


@given(profiles)
def test_a_profile_reads_back(tmp_path_factory, made):
    """The same profile is read as was written, and the text is strict JSON."""
    results = tmp_path_factory.mktemp("results")
    path = machine_profile.write(results, made)
    assert made == machine_profile.read(results, "box")
    json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(name))


PROFILE = Profile(
    "box",
    peaks={"cpu": {"float32": Figure(2e11, "FLOP/s", "measured: 2048^3 GEMM")}},
    bandwidth={"cpu": Figure(4e10, "bytes/s", "measured: triad")},
    yardstick_version="1",
    yardsticks={"2": {"compute": Figure(1e-3, "s", "measured: sgemm")}},
)


@pytest.mark.parametrize("change", [("2000000000", "3000000000"), ('"2"', '"3"'), ("sgemm", "dg")])
def test_a_changed_profile_is_refused_by_its_checksum(tmp_path, change):
    """One without a checksum, as earlier versions wrote them, is read."""
    path = machine_profile.write(tmp_path, PROFILE)
    changed = path.read_text().replace(*change)
    assert changed != path.read_text()
    path.write_text(changed)
    with pytest.raises(DeepbenchError, match="its content is not that of its checksum"):
        machine_profile.read(tmp_path, "box")
    stored = json.loads(changed)
    del stored[machine_profile.PROFILE_CHECKSUM]
    path.write_text(json.dumps(stored))
    assert machine_profile.read(tmp_path, "box") not in (None, PROFILE)


@pytest.mark.parametrize(
    ("figure", "reason"),
    [
        (Figure(1e308, "FLOP/s", "measured: GEMM"), "float32 is 1e.308 FLOP/s, not 1000 to"),
        (Figure(1e9, "s", "measured: sgemm"), "float32 is 1e.09 s, not 1e-09 to 86400"),
        (Figure(None, "FLOP/s", "measured: GEMM"), "float32 is None and 'measured: GEMM'"),
        (Figure(2e11, "FLOP/s", "not measured: none"), "float32 is 2.*and 'not measured: none'"),
    ],
)
def test_a_figure_that_cannot_be_right_is_refused(tmp_path, figure, reason):
    """Also where the checksum fits, as in files that others send."""
    machine_profile.write(tmp_path, replace(PROFILE, peaks={"cpu": {"float32": figure}}))
    with pytest.raises(DeepbenchError, match=reason):
        machine_profile.read(tmp_path, "box")


def test_an_unknown_field_of_a_profile_is_refused(tmp_path):
    """As a damaged name of the checksum is."""
    path = machine_profile.write(tmp_path, PROFILE)
    path.write_text(path.read_text().replace(machine_profile.PROFILE_CHECKSUM, "checkstm"))
    with pytest.raises(DeepbenchError, match="its field 'checkstm' is damaged"):
        machine_profile.read(tmp_path, "box")


def test_a_profile_is_no_result_for_asv(tmp_path):
    """asv finds no result file in a machine's folder that holds only a profile and its entry."""
    machine_profile.write(tmp_path, Profile("box"))
    (tmp_path / "box" / "machine.json").write_text('{"machine": "box", "version": 1}')
    assert [] == list(asv_api.stored_results(tmp_path))


def test_a_machine_without_profile_has_none(tmp_path):
    """No file is no profile, not an error."""
    assert machine_profile.read(tmp_path, "box") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"version": 0}', '{"version": 1}'])
def test_a_broken_profile_is_one_line(tmp_path, content):
    """A truncated or foreign profile raises one line with its path."""
    path = machine_profile.path_of(tmp_path, "box")
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(DeepbenchError) as caught:
        machine_profile.read(tmp_path, "box")
    assert str(path) in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1e999", "-1"])
def test_a_number_that_no_figure_can_be_is_one_line(tmp_path, value):
    """Also a whole number that is larger than any of floating point."""
    known = Profile("box", peaks={"cpu": {"float32": Figure(7e9, "FLOP/s", "measured: x")}})
    path = machine_profile.write(tmp_path, known)
    path.write_text(path.read_text().replace("7000000000.0", value))
    with pytest.raises(DeepbenchError, match="no possible number above 0") as caught:
        machine_profile.read(tmp_path, "box")
    assert len(str(caught.value).removeprefix(str(path))) < 200


@pytest.mark.parametrize(
    ("described", "found"), [("26/2/1", "26/2/1"), ("", "26/2/1"), ("26/2/1", "")]
)
def test_the_same_or_an_unknown_processor_goes_on(described, found):
    """Where the processor of either side is unknown there is nothing to refuse."""
    known = Profile("box", facts={"processor": described})
    assert machine_profile.refuse_another(known, found) is None
    assert machine_profile.refuse_another(None, found) is None


def test_another_processor_under_the_same_name_is_refused():
    """Its results would be held against the peaks and readings of the one described."""
    with pytest.raises(DeepbenchError, match=r"box has .* 26/2/1, and this one is 25/17/1: give"):
        machine_profile.refuse_another(Profile("box", facts={"processor": "26/2/1"}), "25/17/1")


def test_nominal_readings_belong_to_threads_and_version():
    """They are found by thread count and only for the yardstick version that was read."""
    kept = {"2": {"compute": Figure(0.5, "s", ""), "memory": Figure(None, "s", "")}}
    made = Profile("box", yardstick_version="1", yardsticks=kept)
    assert {"compute": 0.5} == made.nominal(2, "1")
    assert {} == made.nominal(4, "1")
    assert {} == made.nominal(2, "2")

"""A wrong time that was corrected is not a change of speed; a new measurement is."""

import math
from datetime import date
from types import SimpleNamespace

import pytest
import workbooks
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.analysis import published_times_in_wrong_rows, wrong_published_times
from deepbench_ops.asv_adapter import asv_api, private_result_fields
from deepbench_ops.asv_adapter.publishing import wrong_times_left_out
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.published import published_result_filing
from deepbench_ops.exchange.workbooks import workbook_values

FIRST, DAYS_LATER, MONTHS_LATER = date(2017, 1, 1), date(2017, 1, 4), date(2017, 7, 14)
OLD, NEW = {"CUDA Version": "8.0.61"}, {"CUDA Version": "9.0.103"}


def times(*seconds, precision="float32"):
    """Values of as many kernels of a benchmark."""
    return {
        ("gemm.Training.kernel_forward", (f"'m{i}'", f"'{precision}'")): [value]
        for i, value in enumerate(seconds)
    }


def found(*rows, days=(FIRST, MONTHS_LATER, date(2018, 1, 1))):
    """The corrected times of (values, stack) published on those days."""
    dated = [wrong_published_times.Dated(day, *row) for day, row in zip(days, rows, strict=False)]
    return wrong_published_times.corrected(dated)


def key(i, precision="float32"):
    return "gemm.Training.kernel_forward", (f"'m{i}'", f"'{precision}'")


def test_few_changes_under_the_same_specs_are_corrections():
    """Of four times one changes: the first publication's was wrong."""
    assert found((times(1, 2, 3, 4), OLD), (times(1, 2, 30, 4), OLD)) == [{key(2)}, set()]


def test_a_slip_that_was_published_again_is_left_out_everywhere():
    """The revisions in between only repeat it."""
    rows = [(times(1, 2, 3, 4), OLD), (times(1, 2, 3, 4), OLD), (times(1, 2, 30, 4), OLD)]
    assert found(*rows) == [{key(2)}, {key(2)}, set()]


@pytest.mark.parametrize(
    ("after", "stack"), [((10, 20, 30, 4), OLD), ((1, 2, 30, 4), NEW)], ids=["most", "libraries"]
)
def test_a_second_measurement_corrects_nothing(after, stack):
    """Most times change, or the libraries did: both times were right in their time."""
    assert found((times(1, 2, 3, 4), OLD), (times(*after), stack)) == [set(), set()]


@pytest.mark.parametrize(
    ("stack", "wrong"),
    [
        ({**OLD, "Motherboard": "another", "CPU Model": "another", "Bios Version": "2"}, {key(2)}),
        ({"CUDA Version": "8.0.61 / 9.0.103", "OpenMPI Version": "1.10.2"}, {key(2)}),
        ({**OLD, "Nvidia Driver": "375.38"}, set()),
    ],
    ids=["board", "a second workbook", "driver"],
)
def test_libraries_and_driver_show_a_new_measurement(stack, wrong):
    """Neither the board of the card nor the libraries of the day's inference does."""
    before = {**OLD, "Motherboard": "one", "CPU Model": "one", "Nvidia Driver": "367.48"}
    stack = {"Nvidia Driver": "367.48", **stack}
    assert found((times(1, 2, 3, 4), before), (times(1, 2, 30, 4), stack)) == [wrong, set()]


ROW = ("'w14_h14_c512_n8_k512_r3_s3_pad1_1_stride1_1'", "'float32'")
FLOPS = 2 * 14 * 14 * 8 * 512 * 512 * 9


@pytest.mark.parametrize(("times_peak", "wrong"), [(5.1, 0), (5.3, 2)])
def test_a_row_beyond_the_peak_is_wrong(times_peak, wrong):
    """All its passes, once one is faster than clocks above the data sheet and the fastest
    algorithm of these years allow: it was not this kernel's row."""
    conv = "conv.Training.kernel_{}".format
    values = {
        (conv("forward"), ROW): [FLOPS / (times_peak * 1e13)],
        (conv("backward_weights"), ROW): [FLOPS / 4e13],
        (conv("forward"), (ROW[0], "'float16'")): [1e-9],
    }
    assert wrong == len(wrong_published_times.impossible(values, {"float32": 1e13}))


def test_a_slip_beyond_the_peak_is_found_in_a_machines_results(tmp_path):
    """By the peak of its profile."""
    path = tmp_path / "2017-07-14__train__DeepBench_NV_M40.xlsx"
    section = workbooks.gemm((5124, 9124, 2560, "N", "T", 0.001), (1760, 16, 1760, "N", "N", 1))
    published_result_filing.file(
        tmp_path, workbook_values.read(workbooks.write(path, section)), list_days=len
    )
    [wrong] = wrong_published_times.of_machine(tmp_path / "nvidia-m40").values()
    assert {("'m5124_n9124_k2560_NT'", "'float32'")} == {params for _, params in wrong}


GEMMS = [(1760, n, 1760, "N", "N") for n in (16, 32, 64, 128)]
OUT_OF_STEP = [(*GEMMS[0], 1), (*(None,) * 5, 2), (*GEMMS[1], 3), (*GEMMS[2], 4), GEMMS[3]]


def filed(folder, day, *rows):
    """Import products of the M40, published on a day."""
    path = folder / f"{day}__train__DeepBench_NV_M40.xlsx"
    book = workbooks.write(path, workbooks.gemm(*rows))
    published_result_filing.file(folder / "results", workbook_values.read(book), list_days=len)


def test_times_in_the_rows_of_others_are_slips_and_correct_nothing(tmp_path, monkeypatch):
    """Those that the table lists; the days before and after have nothing to do with them."""
    ids = [f"'m1760_n{n}_k1760_NN'" for n in (32, 64)]
    keys = {("gemm.Training.kernel_forward", (each, "'float32'")) for each in ids}
    listed = {"2017-07-13__train__DeepBench_NV_M40.xlsx": keys}
    monkeypatch.setattr(published_times_in_wrong_rows, "_by_workbook", lambda: listed)
    right = [(*gemm, time) for gemm, time in zip(GEMMS, (1, 2, 3, 4), strict=True)]
    for day, rows in (("07-12", right), ("07-13", OUT_OF_STEP), ("07-14", right)):
        filed(tmp_path, f"2017-{day}", *rows)
    found = wrong_published_times.of_machine(tmp_path / "results" / "nvidia-m40")
    assert [set(), set(), keys] == sorted(found.values(), key=len)


def test_times_in_other_rows_of_a_new_workbook_are_refused(tmp_path):
    """The sender can move them: the first cell is named and nothing written."""
    with pytest.raises(DeepbenchError, match=r"sheet 'Results FP32', cell I6 and those below it"):
        filed(tmp_path, "2017-07-14", *OUT_OF_STEP)
    assert not (tmp_path / "results").exists()


def test_a_torn_profile_has_no_peaks_and_stops_nothing(tmp_path):
    """Readers of the profile report the fault."""
    path = tmp_path / "2017-07-14__train__DeepBench_NV_M40.xlsx"
    section = workbooks.gemm((5124, 9124, 2560, "N", "T", 0.001), (1760, 16, 1760, "N", "N", 1))
    published_result_filing.file(
        tmp_path, workbook_values.read(workbooks.write(path, section)), list_days=len
    )
    (tmp_path / "nvidia-m40" / "machine.profile").write_text("{")
    assert [set()] == list(wrong_published_times.of_machine(tmp_path / "nvidia-m40").values())


@pytest.mark.parametrize(("stack", "wrong"), [(OLD, {key(0), key(1)}), (NEW, set())])
def test_what_changes_within_days_was_mended(stack, wrong):
    """A workbook replaced after three days with the same libraries: all that changed was wrong."""
    rows = [(times(1, 2), OLD), (times(10, 20), stack)]
    assert found(*rows, days=(FIRST, DAYS_LATER)) == [wrong, set()]


def test_precisions_are_measured_apart():
    """All of float16 measured again, a wrong time in float32: only this one counts."""
    before = {**times(1, 2, 3), **times(1, 2, 3, precision="float16")}
    after = {**times(1, 2, 30), **times(4, 5, 6, precision="float16")}
    assert found((before, OLD), (after, OLD)) == [{key(2)}, set()]


@given(
    values=st.lists(st.lists(st.sampled_from([1.0, 2.0]), min_size=3, max_size=3), max_size=3),
    stacks=st.lists(st.sampled_from([OLD, NEW]), min_size=3, max_size=3),
)
def test_the_newest_publication_is_never_left_out(values, stacks):
    """Nothing has corrected it yet."""
    wrong = found(*((times(*row), stack) for row, stack in zip(values, stacks, strict=False)))
    assert len(wrong) == len(values)
    assert not wrong or not wrong[-1]


def test_the_pages_leave_slips_out_and_the_results_keep_them(tmp_path):
    """Results have a gap there for `asv publish`; the file is not touched."""
    gemms = [(1760, n, 1760, "N", "N") for n in (16, 32, 64, 128)]
    for name, third in (("2017-07-13", 3.0), ("2017-07-14", 30.0)):
        rows = [(*gemms[0], 1), (*gemms[1], 2), (*gemms[2], third), (*gemms[3], 4)]
        path = tmp_path / f"{name}__train__DeepBench_NV_M40.xlsx"
        published_result_filing.file(
            tmp_path / "results",
            workbook_values.read(workbooks.write(path, workbooks.gemm(*rows))),
            list_days=len,
        )
    files = sorted((tmp_path / "results" / "nvidia-m40").glob("*.json"))
    before = [file.read_bytes() for file in files]
    conf = asv_api.configuration({"repo": "r", "project": "p"})
    conf.results_dir = str(tmp_path / "results")
    conf.own_pages = SimpleNamespace(wrong_times=wrong_published_times.of_machine)
    reading = wrong_times_left_out.left_out(
        lambda conf, repo, range_spec: asv_api.stored_results(conf.results_dir)
    )
    shown = sorted(reading(conf, None), key=lambda stored: stored.date)
    first, second = (
        private_result_fields.of(stored).values["gemm.Training.kernel_forward"] for stored in shown
    )
    assert math.isnan(first[2]) and first[:2] == [0.001, 0.002]
    assert second == [0.001, 0.002, 0.03, 0.004]
    assert before == [file.read_bytes() for file in files]

"""External settings are recorded with every point, and decide which points are compared."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

from example_points import PLAIN, point
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.analysis import (
    change_confirmation,
    fastest_machine_by_kernel,
    frameworks_by_kernel,
    machine_comparison,
)
from deepbench_ops.analysis.kernel_lines import lines
from deepbench_ops.analysis.model_overhead import overheads
from deepbench_ops.analysis.settings_and_state_agreement import agree, groups_that_agree, notes
from deepbench_ops.machine import machine_facts
from deepbench_ops.machine.point_records import File
from deepbench_ops.measure import library_variables
from deepbench_ops.pages import line_data
from deepbench_ops.problems.selections import Selected
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import facts_digest, measurement_files

HASWELL = (("OPENBLAS_CORETYPE", "Haswell"),)
OLD, NEW, NEWEST = (Release("numpy", f"2.{n}.0", date(2026, n + 1, 1)) for n in range(3))


STEERING = """OPENBLAS_CORETYPE MKL_CBWR OMP_PROC_BIND KMP_BLOCKTIME GOMP_SPINCOUNT
DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA ATEN_CPU_CAPABILITY XLA_FLAGS TF_ENABLE_ONEDNN_OPTS
MALLOC_ARENA_MAX LD_PRELOAD GLIBC_TUNABLES CUDA_LAUNCH_BLOCKING NCCL_ALGO BLIS_ARCH_TYPE
NPY_DISABLE_CPU_FEATURES NVIDIA_TF32_OVERRIDE"""

OTHERS = """OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS CUDA_VISIBLE_DEVICES CUDA_HOME
CUDA_VERSION NCCL_VERSION TF_CLI_CONFIG_FILE TF_VAR_region TF_CPP_MIN_LOG_LEVEL PATH HOME"""


def test_what_steers_a_library_is_a_setting():
    """Thread counts, which are overwritten, the choice of a device, places, versions and
    Terraform's variables, which share a prefix with TensorFlow's, are none."""
    environ = dict.fromkeys((STEERING + " " + OTHERS).split(), "1")
    assert sorted(STEERING.split()) == [name for name, _ in library_variables.foreign(environ)]


def test_an_empty_variable_is_no_setting():
    assert () == library_variables.foreign({"LD_PRELOAD": "", "XLA_FLAGS": " "})


def test_libraries_of_arm_are_steered_on_arm_alone():
    found = {"NVPL_BLAS_DEBUG_CPU_TYPE": "1"}
    assert () == library_variables.foreign(found, "x86_64")
    assert tuple(found.items()) == library_variables.foreign(found, "aarch64")


@given(st.dictionaries(st.from_regex("[A-Z_]{1,9}", fullmatch=True), st.text()))
def test_settings_are_read_as_they_were_written(found):
    """With any text in a value: blanks, quotes, equals signs, lines."""
    known = tuple(sorted(found.items()))
    assert known == library_variables.parse(library_variables.text(known))


IN_A_PROCESS = """
import json, os, sys
from deepbench_ops.measure import kernel_measurement
kernel_measurement.preload(calibrating=False)
os.environ["MKL_CBWR"] = "COMPATIBLE"  # as a framework might while it is imported
from deepbench_ops.measure import fingerprint
print(json.dumps(fingerprint.stable({}, 1)["settings"]))
"""


def test_the_measured_process_records_what_it_was_started_with():
    """Not the thread counts that it fixes, nor variables set while frameworks are imported."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    environ = {**plain, "OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "7"}
    done = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS], env=environ, capture_output=True, text=True
    )
    assert (0, "OPENBLAS_CORETYPE=Haswell") == (done.returncode, json.loads(done.stdout))


YARDSTICK = """
import ctypes, os
from deepbench_ops.measure import yardstick
library = yardstick._library()
library.scipy_openblas_get_corename.restype = ctypes.c_char_p
print(library.scipy_openblas_get_corename().decode(), os.environ.get("OPENBLAS_CORETYPE"))
"""


def test_a_setting_does_not_move_the_yardstick():
    """It runs the code that it chooses itself, while the variable stays for others."""

    def core(**more):
        environ = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"} | more
        command = [sys.executable, "-c", YARDSTICK]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert [core()[0], "Nehalem"] == core(OPENBLAS_CORETYPE="Nehalem")


def _stored(folder: Path, *facts: dict[str, str], params=(("a",),)) -> Path:
    """Write records next to a result: one kernel for each of `params`, under each of `facts`."""
    path = folder / ("x" + measurement_files.SUFFIX)
    known = {facts_digest.digest(each): each for each in facts}
    entries = [
        {"benchmark": "b", "params": list(key), "fingerprint": digest, "seconds": [1.0]}
        | {"yardstick": [], "started_at": 0.0}
        for key, digest in zip(params, known, strict=True)
    ]
    measurement_files.write(path, known, entries)
    return path


def test_one_setting_in_a_file_is_that_of_all_its_points(tmp_path):
    """Of those without a record of their own, too."""
    path = _stored(tmp_path, {"settings": "OPENBLAS_CORETYPE=Haswell"})
    assert HASWELL == File.read(path).settings(("b", ("a",)))
    assert HASWELL == File.read(path).settings(("b", ("other",)))


def test_several_settings_in_a_file_belong_to_their_records(tmp_path):
    """A kernel measured under several bears all of them, one from earlier days none."""
    facts = {"settings": "OPENBLAS_CORETYPE=Haswell"}, {"settings": ""}, {"cpu": "old"}
    file = File.read(_stored(tmp_path, *facts, params=(("a",), ("b",), ("c",))))
    assert [HASWELL, (), None] == [file.settings(("b", (name,))) for name in "abc"]
    path = _stored(tmp_path, *facts[:2], params=(("a",), ("a",)))
    assert HASWELL == File.read(path).settings(("b", ("a",)))


def test_a_file_of_earlier_days_leaves_settings_unknown(tmp_path):
    assert File.read(_stored(tmp_path, {"cpu": "old"})).settings(("b", ("a",))) is None


def test_unknown_settings_agree_with_any():
    none, haswell, unknown = (point(settings=each) for each in ((), HASWELL, None))
    assert agree(none, unknown) and agree(unknown, haswell) and not agree(none, haswell)
    assert [[none, unknown], [haswell]] == groups_that_agree([none, haswell, unknown])
    assert [[haswell, unknown]] == groups_that_agree([haswell, unknown])


def test_a_line_holds_times_of_the_same_settings():
    """A release under another setting is no change of the kernel's speed."""
    taken = [
        point(release=OLD),
        point(release=NEW, settings=()),
        point(release=NEWEST, settings=HASWELL, seconds=2.0),
    ]
    found = lines(taken, [OLD, NEW, NEWEST], fewest=1)
    assert [[OLD, NEW], [NEWEST]] == [[p.release for p in line.points] for line in found]


def test_a_point_under_a_setting_is_named_with_it_and_is_not_usual():
    one = point(settings=HASWELL)
    assert one.name.endswith(", OPENBLAS_CORETYPE=Haswell")
    assert not one.usual and one.usual_run
    assert point(settings=()).usual and point().usual


def test_machines_are_compared_where_their_settings_agree():
    """Points that are left out are named; two that were both measured under it are compared."""
    here = machine_comparison.contender("box", [point(settings=())])
    there = machine_comparison.contender(
        "far", [point(machine="far", settings=HASWELL, seconds=2.0)]
    )
    assert [] == machine_comparison.changes(here, there)
    (remark,) = machine_comparison.remarks(here, there)
    assert "left out: 1 times measured under OPENBLAS_CORETYPE=Haswell" in remark
    assert 1 == len(machine_comparison.changes(there, there))


def test_frameworks_contest_under_the_same_settings():
    """A framework that is ahead only where the other was slowed down is not the fastest."""
    jax = Release("jax", "0.9.0", date(2026, 7, 8))
    slowed = point(settings=HASWELL, seconds=2.0)
    assert [] == frameworks_by_kernel.contests([slowed, point(release=jax, settings=())])
    assert 1 == len(frameworks_by_kernel.contests([slowed, point(release=jax, settings=HASWELL)]))


def test_the_fastest_is_without_settings():
    slowed, usual = point(settings=HASWELL, seconds=0.5), point(machine="far", settings=())
    wanted = [Selected("training", usual.problem, ())]
    (record,) = fastest_machine_by_kernel.records([slowed, usual], wanted, ["float32"])
    assert "far" == record.machine


def test_pages_show_the_setting_among_the_conditions_of_a_line():
    """And the command that they offer sets it."""
    (line,) = lines([point(settings=HASWELL)], [PLAIN["release"]], fewest=1)
    fields = line_data.line_fields(line, 0, None, {PLAIN["release"]: 0})
    assert "OPENBLAS_CORETYPE=Haswell" == fields["settings"]


def test_a_profile_says_under_which_settings_its_peaks_were_reached(monkeypatch):
    """And nothing where there were none."""
    monkeypatch.setattr(library_variables, "of_this_process", lambda: HASWELL)
    assert "OPENBLAS_CORETYPE=Haswell" == machine_facts.facts()["settings"]
    monkeypatch.setattr(library_variables, "of_this_process", lambda: ())
    assert "settings" not in machine_facts.facts()


def test_a_comparison_says_under_which_settings_its_times_were_measured():
    """Also where all that is compared agrees."""
    assert ["2 of 2 times were measured under OPENBLAS_CORETYPE=Haswell"] == notes(
        [point(settings=HASWELL)] * 2
    )


def test_what_was_measured_under_another_setting_is_not_confirmed_here(monkeypatch):
    """Pairs would measure other code; the reason names both settings. Unknown ones are measured."""
    monkeypatch.setattr(library_variables, "of_this_process", lambda: ())
    slowed, unknown = (
        SimpleNamespace(
            machine=each.machine,
            before=SimpleNamespace(name="numpy-2.0.0"),
            after=SimpleNamespace(name="numpy-2.1.0"),
            shifts=[SimpleNamespace(after=each, change=SimpleNamespace(ratio=2.0))],
        )
        for each in (point(settings=HASWELL), point())
    )
    found = change_confirmation.confirm([slowed], 3, str)
    assert {
        ("numpy-2.0.0", "numpy-2.1.0"): "measured under OPENBLAS_CORETYPE=Haswell; here: none"
    } == found.reasons
    assert 1 == len(change_confirmation._most_changed(unknown))


def test_a_model_and_its_operations_are_held_together_under_the_same_settings():
    """An overhead of a step under one setting and operations under none would be no overhead."""
    model = {"family": "model", "problem_id": "resnet50_b16"}
    whole = point(**model, operation="training_step", settings=HASWELL, seconds=2.0)
    parts = point(**model, operation="training_step_operations", settings=())
    assert [] == overheads([whole, parts])
    assert 1 == len(overheads([whole, parts._replace(settings=HASWELL)]))


def test_times_from_before_settings_were_recorded_are_marked():
    known, unknown = point(settings=()), point()
    published = point(release=Release("published", "2017.1.1", date(2017, 1, 1)))
    assert [] == notes([known, published])
    (remark,) = notes([known, unknown, published])
    assert "1 of 2 times are from before external settings were recorded" in remark


def test_a_run_names_settings_in_one_line():
    assert "" == library_variables.notice(())
    assert library_variables.notice(HASWELL).startswith(
        "external settings: OPENBLAS_CORETYPE=Haswell "
    )

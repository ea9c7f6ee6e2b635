"""The machine's entry and profile: what goes where, what is kept, what is said."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from command import COMMAND, deepbench, make_project
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine import detect, profile
from deepbench_ops.machine.profile import Figure, Profile
from deepbench_ops.measure import fingerprint
from deepbench_ops.problems.precision import multiplied

pytest.importorskip("asv", reason="machine entries are asv's: the `track` extra")
pytest.importorskip("click", reason="the command needs the `track` extra")

from asv.machine import Machine, MachineCollection
from asv.results import iter_results

from deepbench_ops.asv_adapter import machine_entry, patch
from deepbench_ops.commands.machine import written
from deepbench_ops.machine import other_load, peaks, survey

text = st.text(max_size=20)
value = st.none() | st.floats(min_value=0, exclude_min=True, allow_infinity=False)
figures = st.dictionaries(text, st.builds(Figure, value, text, text), max_size=3)
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


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home folder, and to work in: asv keeps its list of machines in the real one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    make_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_identity_has_asv_s_keys_and_nothing_that_updates_change():
    """The entry has asv's fields and the accelerator, the os without the kernel's release."""
    found = detect.identity("box")
    assert {*(name for name, _ in Machine.fields), "accelerator"} == set(found)
    assert "box" == found["machine"]
    release = detect.facts()["kernel"]
    assert not any(release in value for value in found.values())
    assert all(isinstance(value, str) and value for value in found.values())


def test_measured_numbers_stay_out_of_the_entry():
    """What asv copies into each result's parameters is text without any measured figure."""
    assert not {"driver", "peaks", "bandwidth", "memory_bytes"} & set(detect.identity("box"))


def test_an_entry_is_what_asv_loads(home):
    """asv reads back the keys that were stored, the accelerator included, and keeps them."""
    identity = detect.identity("box", accelerator="Abacus 9000")
    machine_entry.save(identity)
    loaded = Machine.load(machine_name="box")
    assert identity == loaded.__dict__
    loaded.save(str(home / "results"))
    kept = json.loads((home / "results" / "box" / "machine.json").read_text())
    assert "Abacus 9000" == kept["accelerator"]


def test_saving_keeps_other_machines_and_foreign_keys(home):
    """A second machine, and a key that somebody added, survive a new entry."""
    MachineCollection.save("other", {"machine": "other"})
    MachineCollection.save("box", {"machine": "box", "room": "cellar", "os": "old"})
    machine_entry.save(detect.identity("box"))
    stored = machine_entry.entries()
    assert {"box", "other"} == set(stored)
    assert ("cellar", detect.identity("box")["os"]) == (stored["box"]["room"], stored["box"]["os"])


def test_default_name_is_the_one_asv_would_use(home):
    """The host's name, or the only entry's, as asv itself resolves it."""
    assert machine_entry.host() == Machine.get_unique_machine_name() == machine_entry.default_name()
    MachineCollection.save("box", {"machine": "box"})
    assert "box" == machine_entry.default_name()


def loaded_by_asv():
    """The name of the machine under which `asv run` files results."""
    with patch.applied(machine_entry.PATCHES):
        return Machine.load().machine


@pytest.mark.parametrize(
    ("earlier", "kept"),
    [
        ({}, {"new"}),
        ({"host": {}}, {"new"}),
        ({"host": {"ram": "1 GiB"}}, {"host", "new"}),
        ({"host": {"room": "cellar"}}, {"host", "new"}),
        ({"other": {}}, {"other", "new"}),
        ({"host": {}, "other": {"ram": "1 GiB"}}, {"other", "new"}),
    ],
)
def test_the_named_machine_is_used_and_only_its_own_copy_goes(home, monkeypatch, earlier, kept):
    """`deepbench machine --name new` replaces an entry that has the host's name and else the same
    values; entries with other values, and those of other hosts, stay as they were."""
    monkeypatch.setattr(machine_entry.platform, "node", lambda: "host")
    for name, more in earlier.items():
        machine_entry.save({**detect.identity(name), **more})
    before = machine_entry.entries()
    status, out, err = deepbench("machine", "--name", "new", "--yes", "--no-measure")
    after = machine_entry.entries()
    assert (0, "") == (status, err)
    assert kept == set(after)
    assert {name: before[name] for name in kept - {"new"}} == {
        name: after[name] for name in kept - {"new"}
    }
    replaced = "host" in earlier and "host" not in kept
    assert replaced == ("replaced: the entry 'host', which differed in its name alone" in out)
    assert "new" == machine_entry.default_name() == loaded_by_asv()
    stored = json.loads((home / ".asv-machine.json").read_text())
    assert {"version": 1, **after} == stored


def test_the_last_named_of_several_machines_is_used(home, monkeypatch):
    """Also the one that asv would take, after another one."""
    monkeypatch.setattr(machine_entry.platform, "node", lambda: "host")
    for name, accelerator in [("host", "one"), ("new", "two"), ("third", "three"), ("host", "one")]:
        described = ["--name", name, "--accelerator", accelerator]
        assert 0 == deepbench("machine", *described, "--yes", "--no-measure")[0]
        assert name == machine_entry.default_name() == loaded_by_asv()
        _, out, _ = deepbench("config")
        assert ("machines (" in out) == (name != "host" or "third" in machine_entry.entries())
        assert f"used: {name}, " in out or 1 == len(machine_entry.entries())
    assert {} == json.loads((home / machine_entry.CHOICES).read_text())


def test_several_machines_of_other_hosts_are_reported(home, monkeypatch):
    """None of them is used, and the line has the command that chooses one."""
    monkeypatch.setattr(machine_entry.platform, "node", lambda: "host")
    for name in ("one", "two"):
        machine_entry.save(detect.identity(name))
    _, out, _ = deepbench("config")
    assert "has 2 machines (one, two) and none with the host's name, 'host'" in out
    assert "deepbench machine --name NAME" in out


@pytest.mark.parametrize("content", ["{", "[]", '{"host": 1}', "[" * 100_000])
def test_a_broken_file_of_choices_is_one_line(home, content):
    """It names the file, and the list of machines stays as it was."""
    (home / machine_entry.CHOICES).write_text(content)
    status, _, err = deepbench("machine", "--yes", "--no-measure")
    assert (2, 1) == (status, len(err.splitlines()))
    assert str(home / machine_entry.CHOICES) in err
    assert not (home / ".asv-machine.json").exists()


def test_changes_are_the_values_that_differ():
    """Only keys that were there with another value are called changes."""
    before, after = {"os": "a", "ram": "1"}, {"os": "b", "ram": "1", "cpu": "c"}
    assert {"os": ("a", "b")} == machine_entry.changes(before, after)


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\\b", " box", "a:b"])
def test_names_that_are_no_folder_are_refused(name):
    """A machine's name must be able to name the folder of its results."""
    with pytest.raises(DeepbenchError, match="folder"):
        machine_entry.check_name(name)


@pytest.mark.parametrize("content", ["{", "[]", '{"box": {}}', '{"version": 99}'])
def test_a_broken_list_of_machines_is_one_line(home, content):
    """A list that asv cannot read raises one line with its path, and stays as it was."""
    path = home / ".asv-machine.json"
    path.write_text(content)
    with pytest.raises(DeepbenchError) as caught:
        machine_entry.entries()
    assert str(path) in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())
    assert content == path.read_text()


@given(profiles)
def test_a_profile_reads_back(tmp_path_factory, made):
    """What is written is what is read, and the text is strict JSON."""
    results = tmp_path_factory.mktemp("results")
    path = profile.write(results, made)
    assert made == profile.read(results, "box")
    json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(name))


def test_a_profile_is_no_result_for_asv(tmp_path):
    """asv finds no result file in a machine's folder that holds only a profile and its entry."""
    profile.write(tmp_path, Profile("box"))
    (tmp_path / "box" / "machine.json").write_text('{"machine": "box", "version": 1}')
    assert [] == list(iter_results(str(tmp_path)))


def test_a_machine_without_profile_has_none(tmp_path):
    """No file is no profile, not an error."""
    assert profile.read(tmp_path, "box") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"version": 0}', '{"version": 1}'])
def test_a_broken_profile_is_one_line(tmp_path, content):
    """A truncated or foreign profile raises one line with its path."""
    path = profile.path_of(tmp_path, "box")
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(DeepbenchError) as caught:
        profile.read(tmp_path, "box")
    assert str(path) in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


@pytest.mark.parametrize(
    ("described", "found"), [("26/2/1", "26/2/1"), ("", "26/2/1"), ("26/2/1", "")]
)
def test_the_same_or_an_unknown_processor_goes_on(described, found):
    """Where the processor of either side is unknown there is nothing to refuse."""
    known = Profile("box", facts={"processor": described})
    assert profile.refuse_another(known, found) is None
    assert profile.refuse_another(None, found) is None


def test_another_processor_under_the_same_name_is_refused():
    """Its results would be held against the peaks and readings of the one described."""
    with pytest.raises(DeepbenchError, match=r"box has .* 26/2/1, and this one is 25/17/1: give"):
        profile.refuse_another(Profile("box", facts={"processor": "26/2/1"}), "25/17/1")


def test_nominal_readings_belong_to_threads_and_version():
    """They are found by thread count and only for the yardstick version that was read."""
    kept = {"2": {"compute": Figure(0.5, "s", ""), "memory": Figure(None, "s", "")}}
    made = Profile("box", yardstick_version="1", yardsticks=kept)
    assert {"compute": 0.5} == made.nominal(2, "1")
    assert {} == made.nominal(4, "1")
    assert {} == made.nominal(2, "2")


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ("", {}),
        ("No devices were found\n", {}),
        (
            "NVIDIA H200, 550.54.15, 143771\n",
            {
                "accelerator": "NVIDIA H200",
                "driver": "550.54.15",
                "accelerator_memory_bytes": str(143771 * 2**20),
            },
        ),
        ("V100, 1, [N/A]\nV100, 1, [N/A]\n", {"accelerator": "2 x V100", "driver": "1"}),
        ("V100, 1, x\nT4, 1, x\n", {"accelerator": "V100 + T4", "driver": "1"}),
    ],
)
def test_accelerators_are_read_from_the_listing(listing, expected):
    """Names are counted, driver and memory kept, and what is no listing gives nothing."""
    assert expected == detect.parse_accelerators(listing)


def test_last_level_cache_is_the_largest(tmp_path):
    """The largest size wins, whatever its unit; no folder is 0."""
    for index, size in enumerate(["32K", "2048K", "32M"]):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(size + "\n")
    assert 32 * 2**20 == detect.last_level_cache(tmp_path)
    assert 0 == detect.last_level_cache(tmp_path / "absent")


class Clock:
    """A clock that moves only when a kernel runs."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Backend:
    """A backend of a known rate: every product takes flops / rate seconds of its clock."""

    name = "fake"

    def __init__(self, clock, rate, reason=None):
        self.clock, self.rate, self.reason = clock, rate, reason

    def build(self, problem, precision, operation="forward", seed=0):
        if self.reason:
            raise Unsupported(self.reason)
        return FakeKernel(self, problem.flops)

    def versions(self):
        return {"fake": "1.0"}


class FakeKernel:
    """A product that moves the clock instead of computing."""

    clock = None

    def __init__(self, backend, flops):
        self.backend, self.flops = backend, flops

    def run(self):
        self.backend.clock.now += self.flops / self.backend.rate

    def synchronise(self):
        pass

    def reset(self):
        self.backend.clock.now += 1e-3


@pytest.fixture
def unchecked(monkeypatch):
    """Products that compute nothing cannot pass the check of their results."""
    monkeypatch.setattr(peaks.check, "verify", lambda *arguments: None)


@pytest.mark.parametrize("rate", [1e9, 1e11, 1e14])
def test_a_peak_is_the_rate_of_the_machine(unchecked, rate):
    """A machine of known rate is measured at that rate, resets not counted."""
    clock = Clock()
    figure = peaks.gemm_peak(Backend(clock, rate), "float32", 0.1, clock)
    assert rate == pytest.approx(figure.value)
    assert figure.how.startswith("measured: ")
    assert "^3 GEMM, fake 1.0, best of" in figure.how


def test_products_grow_with_the_machine(unchecked):
    """A faster machine gets larger products, each shorter than the longest allowed."""
    sizes = []
    for rate in (1e8, 1e11, 1e16):
        clock = Clock()
        how = peaks.gemm_peak(Backend(clock, rate), "float32", 0.1, clock).how
        sizes.append(int(how.split("^")[0].split()[-1]))
    assert sorted(set(sizes)) == sizes
    assert (peaks.SMALLEST, peaks.LARGEST) == (sizes[0], sizes[-1])


def test_a_wrong_product_has_no_peak(monkeypatch):
    """A backend whose result fails its check gives no figure but the reason."""

    def wrong(*arguments):
        raise DeepbenchError("result is wrong")

    monkeypatch.setattr(peaks.check, "verify", wrong)
    monkeypatch.setattr(peaks, "load_all", lambda *_: ([Backend(Clock(), 1e9)], []))
    found = peaks.gemm_peaks("cpu", 1, 100.0, Clock())
    assert {Figure(None, "FLOP/s", "not measured: fake: result is wrong")} == set(found.values())


def test_the_best_framework_gives_the_peak(unchecked, monkeypatch):
    """The faster of two backends is the machine's peak; what one cannot do does not matter."""
    clock = Clock()
    group = [Backend(clock, 1e9), Backend(clock, 2e9), Backend(clock, 9e9, "cannot")]
    monkeypatch.setattr(peaks, "load_all", lambda *_: (group, []))
    found = peaks.gemm_peaks("cpu", 1, 1e9, clock)
    assert [pytest.approx(2e9)] * 5 == [figure.value for figure in found.values()]


def test_a_gpu_has_a_peak_of_8_bit_floating_point_too(unchecked, monkeypatch):
    """From a linear layer with a scale for each row; the processor is not asked for it."""
    clock = Clock()
    monkeypatch.setattr(peaks, "load_all", lambda *_: ([Backend(clock, 1e9)], []))
    on_gpu = peaks.gemm_peaks("cuda", 1, 1e9, clock)
    assert pytest.approx(1e9) == on_gpu["fp8"].value
    assert {"fp8"} == set(on_gpu) - set(peaks.gemm_peaks("cpu", 1, 1e9, clock))
    problem, precision = peaks.product(1024, "fp8")
    assert ("fp8", 2 * 1024**3) == (multiplied(precision), problem.flops)


def test_nothing_is_begun_after_the_deadline(unchecked, monkeypatch):
    """A peak whose turn comes too late says that there was no time."""
    clock = Clock()
    clock.now = 10.0
    monkeypatch.setattr(peaks, "load_all", lambda *_: ([Backend(clock, 1e9)], []))
    found = peaks.gemm_peaks("cpu", 1, 5.0, clock)
    assert {"not measured: fake: out of time"} == {figure.how for figure in found.values()}


def test_reasons_are_told_when_nothing_could_measure():
    """Without a figure every reason is given; without a framework that is the reason."""
    both = [Figure(None, "", "not measured: a: no"), Figure(None, "", "not measured: b: never")]
    assert "not measured: a: no; b: never" == peaks.best(both).how
    assert "not measured: no framework is installed" == peaks.best([]).how


def test_the_triad_counts_24_bytes_an_element():
    """With a clock that ticks once a reading, a run of two million elements takes one tick."""
    ticks = iter(range(10**6))
    figure = peaks.triad(2, 2**21, 3.0, lambda: float(next(ticks)))
    assert 24.0 * 2**21 == figure.value
    assert "2 threads" in figure.how


def test_triad_arrays_outgrow_the_cache_but_not_the_memory():
    """Four times the last-level cache, 64 MiB at least, an eighth of the free memory at most."""
    mib, gib = 2**20, 2**30
    assert 64 * mib == 8 * peaks.triad_elements(0, 64 * gib)
    assert 1024 * mib == 8 * peaks.triad_elements(256 * mib, 64 * gib)
    assert 128 * mib == 8 * peaks.triad_elements(256 * mib, gib)


def test_triad_blocks_compute_the_triad():
    """Block by block, a becomes b + 3c."""
    a, b, c = np.zeros(10), np.arange(10.0), np.ones(10)
    peaks._triad_blocks([(a[:6], b[:6], c[:6]), (a[6:], b[6:], c[6:])])
    np.testing.assert_array_equal(b + 3 * c, a)


@pytest.fixture
def read_yardsticks(monkeypatch):
    """The yardsticks that were read, in order; each reading is 1 s."""
    read = []

    def nominal(kind, threads, seconds):
        read.append((kind, threads))
        return 1.0

    names = {"yardstick_library": "lib 1", "yardstick_compute": "x", "yardstick_memory": "y"}
    monkeypatch.setattr(survey.yardstick, "nominal", nominal)
    monkeypatch.setattr(survey.yardstick, "versions", lambda: names)
    return read


def old_profile(version):
    """A profile with the compute yardstick read at two threads."""
    kept = {"2": {"compute": Figure(0.5, "s", "measured: long ago")}}
    return Profile("box", yardstick_version=version, yardsticks=kept)


def test_nominal_readings_are_kept(read_yardsticks):
    """A reading that points on the timeline rest on stays; only missing ones are taken."""
    version = survey.yardstick.VERSION
    found = survey.yardsticks(2, old_profile(version), renew=False)
    assert (0.5, 1.0) == (found["2"]["compute"].value, found["2"]["memory"].value)
    assert [("memory", 2)] * 2 == read_yardsticks
    more = survey.yardsticks(4, old_profile(version), renew=False)
    assert {"2", "4"} == set(more)


@pytest.mark.parametrize(("version", "renew"), [("older", False), (None, True)])
def test_nominal_readings_are_renewed_on_request_or_new_workloads(read_yardsticks, version, renew):
    """Asked to renew, or when the workloads changed, every reading is taken again."""
    old = old_profile(version or survey.yardstick.VERSION)
    found = survey.yardsticks(2, old, renew)
    assert [1.0, 1.0] == [found["2"][kind].value for kind in ("compute", "memory")]


def test_a_yardstick_that_is_missing_says_why(monkeypatch):
    """Without the yardstick's library the profile has the reason instead of a number."""

    def missing(kind, threads, seconds):
        raise DeepbenchError("needs the wheel")

    monkeypatch.setattr(survey.yardstick, "nominal", missing)
    found = survey.yardsticks(1, None, renew=False)
    assert Figure(None, "s", "not measured: needs the wheel") == found["1"]["compute"]


def test_a_peak_is_replaced_by_a_better_one_only(monkeypatch):
    """A higher reading replaces a measured peak, a lower or missing one leaves it and its day.

    A line reports a much lower one, and the option that takes it all the same.
    """
    sheet = Figure(9.0, "FLOP/s", "data sheet: vendor")
    past = Figure(8.0, "FLOP/s", "measured: torch")
    names = ("float32", "float16", "bfloat16", "tf32")
    old = Profile("box", "2026-01-02", peaks={"cpu": dict.fromkeys(names, past) | {"int8": sheet,
                                                      "tf32": sheet}})  # fmt: skip
    none = Figure(None, "FLOP/s", "not measured: torch is missing")
    higher, lower = (Figure(value, "FLOP/s", "measured: x") for value in (10.0, 1.0))
    new = {"float32": higher, "int8": none, "float16": none, "bfloat16": lower, "tf32": lower}
    lines = []
    kept = Figure(8.0, "FLOP/s", "measured: torch, kept from 2026-01-02")
    expected = {"float32": higher, "int8": sheet, "float16": kept, "bfloat16": kept, "tf32": lower}
    assert expected == survey._kept(new, old, "cpu", lines.append)
    assert ["bfloat16"] == [line.split()[0] for line in lines]
    assert "--renew-peaks" in lines[0]
    again = Profile("box", "2026-02-03", peaks={"cpu": expected})
    assert kept == survey._kept(new, again, "cpu", lines.append)["float16"]
    assert new == survey._kept(new, None, "cpu", lines.append)


@pytest.fixture
def simulated(monkeypatch):
    """A machine of 268 GFLOP/s and 29 GB/s that a neighbour slows while `neighbour` says so."""
    state = {"neighbour": iter([False] * 9), "others": ""}

    def rate(quiet):
        return quiet / 2.2 if next(state["neighbour"]) else quiet

    def gemms(*_):
        return {
            "float32": Figure(rate(268e9), "FLOP/s", "measured: 2048^3 GEMM, numpy 2, best of 9")
        }

    def triad(*_):
        return Figure(rate(29e9), "bytes/s", "measured: triad a = b + 3c, 3 x 128 MiB")

    class Watched:
        def found(self):
            return state["others"]

    monkeypatch.setattr(survey.peaks, "load_all", lambda *_: ([], []))
    monkeypatch.setattr(survey.peaks, "gemm_peaks", gemms)
    monkeypatch.setattr(survey.peaks, "triad", triad)
    monkeypatch.setattr(survey, "LoadMonitor", Watched)
    monkeypatch.setattr(survey.detect, "facts", dict)
    return state


def surveyed(old=None, **renewed):
    """The simulated machine's peak and bandwidth in 10^9 a second, and the doubts."""
    doubts = []
    found = survey.survey("box", 1, old, survey.Renewed(**renewed), survey.ignore, doubts.append)
    values = found.peaks["cpu"]["float32"].value / 1e9, found.bandwidth["cpu"].value / 1e9
    return *map(round, values), doubts, found


def test_a_quiet_machine_raises_no_doubts(simulated, read_yardsticks):
    assert (268, 29, []) == surveyed()[:3]


@pytest.mark.parametrize("when", [(True, True, False, False), (False, False, True, True)])
def test_a_neighbour_of_one_pass_costs_nothing_and_is_named(simulated, read_yardsticks, when):
    """The other pass has the peak; 120 and 268 GFLOP/s within seconds are no quiet machine's."""
    simulated["neighbour"] = iter(when)
    peak, bandwidth, doubts, _ = surveyed()
    assert (268, 29) == (peak, bandwidth)
    assert ["float32", "bytes/s"] == [line.split(":")[0] for line in doubts]


def test_a_neighbour_that_stays_is_named(simulated, read_yardsticks):
    """Both passes agree on half of the peak: only the processors' time shows the neighbour."""
    simulated.update(neighbour=iter([True] * 4), others="other processes took 50%")
    peak, _, doubts, _ = surveyed()
    assert 122 == peak
    assert any("other processes took 50%" in line for line in doubts)


def test_a_former_peak_outlives_a_disturbed_survey(simulated, read_yardsticks):
    """120 instead of 268 GFLOP/s are not stored, nor is the bandwidth; asked to, they are."""
    *_, quiet = surveyed()
    simulated["neighbour"] = iter([True] * 4)
    assert (268, 29) == surveyed(quiet)[:2]
    simulated["neighbour"] = iter([True] * 4)
    assert (122, 13) == surveyed(quiet, peaks=True)[:2]


def test_a_yardstick_is_read_until_its_readings_agree():
    """A neighbour that comes and goes: the two least of up to four agree, or there is a doubt."""
    pauses = []
    readings = iter([2.1, 1.0, 1.6, 1.01])
    assert (1.0, True) == survey.agreed(lambda: next(readings), pauses.append)
    assert 2 == len(pauses)
    assert (1.0, False) == survey.agreed(iter([4.0, 3.0, 2.0, 1.0]).__next__, pauses.append)


def test_a_nominal_reading_that_does_not_settle_is_named(monkeypatch, read_yardsticks):
    """Every later time is a multiple of it."""
    falling = iter(range(9, 0, -1))
    monkeypatch.setattr(survey.yardstick, "nominal", lambda *_: next(falling))
    monkeypatch.setattr(survey, "PAUSE_SECONDS", 0.0)
    doubts = []
    survey.yardsticks(1, None, False, doubts.append)
    assert ["compute", "memory"] == [line.split()[1] for line in doubts]


@pytest.mark.parametrize(
    ("busy", "stolen", "own", "expected"),
    [
        (10.0, 0.0, 10.0, ""),
        (14.0, 0.0, 10.0, "other processes took 20%"),
        (10.0, 6.0, 10.0, "other systems of this host took 30%"),
    ],
)
def test_use_by_others_is_what_this_process_did_not_take(busy, stolen, own, expected):
    """Two processors for ten seconds: 10 seconds of our own leave 4 of 14 to others."""
    usages = iter([other_load.Usage(100.0, 1.0), other_load.Usage(100.0 + busy, 1.0 + stolen)])
    owns, times = iter([5.0, 5.0 + own]), iter([0.0, 10.0])
    watch = other_load.LoadMonitor(lambda: next(usages), owns.__next__, times.__next__, cores=2)
    found = watch.found()
    assert expected == found.removesuffix(" of its processors' time")


def test_usage_is_of_the_processors_that_may_be_used(tmp_path):
    """A container of two cores says nothing of the sixty-two others."""
    path = tmp_path / "stat"
    path.write_text(
        "cpu  9 9 9 9 9 9 9 9\ncpu0 100 0 200 5 5 0 0 100 0 0\ncpu1 900 0 0 0 0 0 0 0\nintr 1"
    )
    found = other_load.usage(path, cores=[0])
    assert (300 / other_load.TICKS, 100 / other_load.TICKS) == (found.busy, found.stolen)
    assert other_load.usage(tmp_path / "none") is None


@pytest.mark.slow
def test_a_real_neighbour_is_seen():
    """A process that keeps a core busy for a second."""
    if other_load.usage() is None:
        pytest.skip("this system does not report the use of its processors")
    watch = other_load.LoadMonitor()
    spinning = "import time\nend = time.time() + 8\nwhile time.time() < end: pass"
    with subprocess.Popen([sys.executable, "-c", spinning]) as neighbour:
        time.sleep(6)
        message = watch.found()
        neighbour.kill()
    assert "other processes took" in message


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (Figure(2e11, "FLOP/s", "measured: x"), "200 GFLOP/s (measured: x)"),
        (Figure(2.5e10, "bytes/s", "measured: y"), "25 GB/s (measured: y)"),
        (Figure(0.002, "s", "measured: z"), "2 ms (measured: z)"),
        (Figure(None, "s", "not measured: w"), "not measured: w"),
    ],
)
def test_figures_are_written_with_how(figure, expected):
    """A printed figure has its unit and how it was got."""
    assert expected == written(figure)


def test_the_command_writes_the_entry(home):
    """With --yes the entry is written and shown; nothing is measured when not wanted."""
    arguments = ["--name", "box", "--yes", "--no-measure"]
    status, out, err = deepbench("machine", *arguments)
    assert (0, "") == (status, err)
    assert detect.identity("box") == machine_entry.entries()["box"]
    assert detect.identity("box")["cpu"] in out
    assert not (home / "results").exists()


def test_the_command_warns_of_a_changed_identity(home):
    """A value that an earlier entry had otherwise is named, since graphs will split."""
    MachineCollection.save("box", {**detect.identity("box"), "ram": "1"})
    status, _, err = deepbench("machine", "--name", "box", "--yes", "--no-measure")
    assert 0 == status
    assert "ram was '1'" in err


@pytest.mark.parametrize("arguments", [["--name", "box"], ["--name", "a/b", "--yes"]])
def test_the_command_fails_in_one_line(home, arguments):
    """No one to ask, or a bad name: one line, exit 2, nothing written."""
    status, _, err = deepbench("machine", *arguments)
    assert 2 == status
    assert err.startswith("deepbench: error: ")
    assert 1 == len(err.splitlines())
    assert not (home / ".asv-machine.json").exists()


def test_a_broken_profile_is_not_replaced(home):
    """The command stops before it writes anything when the old profile cannot be read."""
    path = profile.path_of(home / "results", "box")
    path.parent.mkdir(parents=True)
    path.write_text("{")
    status, _, err = deepbench("machine", "--name", "box", "--yes")
    assert (2, 1, "{") == (status, len(err.splitlines()), path.read_text())
    assert not (home / ".asv-machine.json").exists()


def test_the_profile_of_another_processor_is_not_replaced(home):
    """A machine lent under an earlier one's name is asked to take its own."""
    path = profile.write(home / "results", Profile("box", facts={"processor": "1/2/3"}))
    before = path.read_text()
    status, _, err = deepbench("machine", "--name", "box", "--yes")
    if not fingerprint.silicon():
        pytest.skip("this system does not report family, model and stepping of its processor")
    assert (2, 1, before) == (status, len(err.splitlines()), path.read_text())
    assert "--name NAME" in err
    assert not (home / ".asv-machine.json").exists()


@pytest.mark.slow
def test_the_command_measures_this_machine(home):
    """In about a minute it writes a profile with a float32 peak, a bandwidth and their hows."""
    measuring = [*COMMAND, "machine", "--name", "box", "--yes"]
    out = subprocess.run(measuring, capture_output=True, text=True, timeout=300, check=True).stdout
    made = profile.read(home / "results", "box")
    assert made.peaks["cpu"]["float32"].value > 1e8
    assert made.bandwidth["cpu"].value > 1e8
    groups = [*made.peaks.values(), made.bandwidth, *made.yardsticks.values()]
    for figure in (figure for group in groups for figure in group.values()):
        assert figure.how in out
        assert figure.how.startswith("measured: " if figure.value else "not measured: ")


def test_processor_and_memory_are_those_that_asv_would_enter(monkeypatch, tmp_path):
    """Entries of earlier runs hold asv's texts; another one would begin new lines."""
    asvs = Machine.get_defaults()
    found = detect.identity("box")
    assert (asvs["cpu"] or found["cpu"], asvs["num_cpu"]) == (found["cpu"], found["num_cpu"])
    assert asvs["ram"] == str(detect.memory_bytes())
    monkeypatch.setattr(detect, "PROC", tmp_path)
    (tmp_path / "meminfo").write_text("MemFree: 7 kB\nMemTotal:       2048 kB\n")
    (tmp_path / "cpuinfo").write_text("model\t: 2\nmodel name\t: A: processor \n")
    assert (2 * 2**20, "A: processor") == (detect.memory_bytes(), detect.processor_name())

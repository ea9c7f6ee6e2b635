"""deepbench table, ops, latency and scaling, on networks small enough to run in a moment."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import date
from importlib.metadata import PackageNotFoundError

import pytest
from click.testing import CliRunner
from example_points import point
from published_site import MODEL_RUNS, write_results

from deepbench_ops.analysis import missing_reasons, point_reading
from deepbench_ops.analysis.model_latency_points import with_latency_runs
from deepbench_ops.analysis.nearest_model_run import PublishedConditions, nearest
from deepbench_ops.analysis.published_model_figures import TABLES, load
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.cli import cli
from deepbench_ops.distributed.training.training_request import TrainingRequest, parsed
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.measure import threads
from deepbench_ops.problems import find
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import entry_conflict_files, model_run_fields, model_runs
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryVersion

LENGTHS = ("inf", "nan", 0, -1)
"""Of a run, in seconds, that none can have."""

RESULTS = ["--results", "results", "--machine", "epyc-9004-2core"]


def deepbench(*arguments):
    """Run the command in this process; a mistake of the user stays an exception."""
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def measured(id, precision="float32", operation="forward", seconds=2.0, **said):
    return point(
        family="model",
        set="training" if operation == "training_step" else "inference_server",
        operation=operation,
        problem_id=id,
        precision=precision,
        seconds=seconds,
        **said,
    )


@pytest.mark.parametrize("name", TABLES)
def test_every_published_figure_is_of_a_network_that_is_there(name):
    for figure in load(name):
        if figure.batch is not None:
            id = f"{figure.network}_b{figure.batch}"
            id += f"_t{figure.threads}" if figure.threads > 1 else ""
            listed = find("model", id)
            wanted = "training" if figure.operation == "training_step" else "inference_server"
            assert wanted in listed.sets


def test_the_tables_have_as_many_figures_as_were_published():
    assert [11, 12, 21, 12] == [len(load(name)) for name in TABLES]


def test_stream_computings_throughput_is_batches_at_once_over_latency():
    """In every row, within the three digits that are printed."""
    for figure in load("stcp920"):
        items = figure.batch * figure.threads
        assert figure.value == pytest.approx(items / figure.seconds, rel=0.002), figure.printed


def test_qingclouds_gpu_trained_two_hundred_images_a_second():
    first = load("qingcloud")[0]
    assert (199.09, "training_step", 64) == (first.value, first.operation, first.batch)
    assert 64 / 199.09 == pytest.approx(first.seconds, rel=1e-5)


def test_a_table_says_why_a_cell_is_empty():
    said = deepbench("table", "mindspore", *RESULTS)
    assert said.exit_code == 0, said.output
    assert "2,115 images/sec" in said.output
    assert "8 devices, and a point is of one; as ranks they need 8 processors" in said.output


HERE = ["--results", "results", "--machine", "epyc-7003-2core"]


def cells(name):
    """Cells of a table from the committed results of a machine of two cores, by figure."""
    said = deepbench("table", name, *HERE, "--format", "json")
    assert said.exit_code == 0, said.output
    return [(row, row["here"]["epyc-7003-2core"]) for row in json.loads(said.output)]


def why(cell):
    return "; ".join(cell["why_not"])


def test_a_table_says_that_runs_were_sent_with_different_numbers(tmp_path):
    """With the command that lists them."""
    write_results(tmp_path / "results")
    latency = next(run for run in MODEL_RUNS if run["kind"] == "latency")
    versions = [
        EntryVersion(model_run_fields.FILE, latency | {"median_seconds": seconds})
        for seconds in (0.020, 0.022)
    ]
    kept = EntryConflicts({}, {versions[0].key: versions})
    entry_conflict_files.write(tmp_path / "results" / "lab-1", kept)
    said = deepbench("table", "stcp920", "--machine", "lab-1", "--results", tmp_path / "results")
    assert 0 == said.exit_code
    assert "lab-1: 1 model run with different numbers" in said.stderr
    assert "deepbench conflicts --machine lab-1 lists" in said.stderr


@pytest.mark.slow
def test_a_table_leaves_unsteady_times_out(monkeypatch):
    """A line counts them, and names the command that lists them; their cells say what measures
    them."""
    load = point_reading.load
    before = sum("seconds" in cell for _, cell in cells("mindspore"))

    def unsteady(*arguments, **options):
        return [
            point._replace(unsteady="processes disagree: 2 of them lie 2 times apart")
            for point in load(*arguments, **options)
        ]

    monkeypatch.setattr(point_reading, "load", unsteady)
    said = deepbench("table", "mindspore", *HERE)
    counted = re.search(r"(\d+) unsteady times of epyc-7003-2core are left out", said.stderr)
    assert 0 < before <= int(counted[1])
    assert [] == [cell for _, cell in cells("mindspore") if "seconds" in cell]


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_that_is_not_as_published_has_a_reason(name):
    for row, cell in cells(name):
        assert cell["why_not"] or not cell["differs"], row["printed"]


@pytest.mark.slow
def test_reasons_name_what_the_machine_lacks_for_this_very_figure(monkeypatch):
    """Cores, memory, time for a call, the precision, devices; or the command that would do."""
    served = {(row["printed"], row["precision"]): why(cell) for row, cell in cells("stcp920")}
    assert "float16 was not measured; 12 batches at once on 2" in served["resnet50", "float16"]
    trained = {(row["network"], row["devices"]): why(cell) for row, cell in cells("mindspore")}
    bert = trained["bert_large_128", 1]
    assert "bfloat16 was not measured; " in bert
    of_profile = missing_reasons.resources_of

    def without_bfloat16(entry, profile):
        return replace(of_profile(entry, profile), without=frozenset({"bfloat16"}))

    monkeypatch.setattr(missing_reasons, "resources_of", without_bfloat16)
    (low,) = [
        why(cell)
        for row, cell in cells("mindspore")
        if (row["network"], row["devices"]) == ("bert_large_128", 1)
    ]
    assert "bfloat16 was not measured, and the machine's profile has no peak of it" in low
    assert "e+10 bytes of memory needed by the estimate, 2.53e+10 there" in bert
    assert "s for a call even at the machine's peak" in bert
    assert "not measured yet" not in bert
    assert any("with DEEPBENCH_LAYOUT channels_last" in why(cell) for _, cell in cells("qingcloud"))


def test_a_cell_that_could_be_measured_has_the_command():
    """Which picks a benchmark that is there."""
    reasons = [reason for row, cell in cells("mindspore") for reason in cell["why_not"]]
    (reason,) = {each for each in reasons if "wide_deep_b16000" in each}
    place = r"^model\.Training\.kernel_training_step\(.wide_deep_b16000., .bfloat16.\)"
    assert f"not measured yet: asv run --bench '{place}' torch" == reason
    assert re.search(place, "model.Training.kernel_training_step('wide_deep_b16000', 'bfloat16')")


def test_tables_that_are_not_split_are_marked():
    split = [cell for row, cell in cells("mindspore") if row["conditions"] and row["devices"] == 1]
    (cell,) = split
    assert "tables not split over host and device" in cell["differs"]


def test_the_papers_bert_is_of_eight_devices_and_its_resnet_of_version_1_5():
    papers = load("paper")
    assert {(8, 256)} == {(f.devices, f.batch) for f in papers if f.printed == "BERT"}
    (ascend,) = (f for f in papers if f.value == 2115)
    assert "resnet50_v1p5" == ascend.network
    assert "MindSpore's own table has the Ascend 910's 2115" in ascend.other_figures


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("mindspore", "scaling efficiency 0.98, ModelArts, 192 CPU cores"),
        ("qingcloud", "CPU (MKL build), 8 cores (Broadwell)"),
        ("stcp920", "latency 26.53 ms"),
        ("paper", "loss 0.0016, accuracy 94.68 %"),
    ],
)
def test_a_table_has_other_figures_and_remarks_of_its_source(name, remark):
    assert remark in deepbench("table", name, *HERE).output


def test_a_table_as_csv_has_a_line_for_each_figure_and_machine():
    said = deepbench("table", "paper", *RESULTS, "--machine", "nvidia-v100", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(said.output)))
    assert 2 * len(load("paper")) == len(lines)
    assert {"epyc-9004-2core", "nvidia-v100"} == {line["here"] for line in lines}


def test_an_unknown_table_is_named():
    said = deepbench("table", "nvidia", *RESULTS)
    assert isinstance(said.exception, DeepbenchError)
    assert "unknown table 'nvidia'" in str(said.exception)


WANTED = PublishedConditions("resnet50", "forward", "float16", 16, 12)


def test_the_run_as_published_comes_first():
    found = nearest(
        [
            measured("resnet50_b16"),
            measured("resnet50_b16_t12", "float16", seconds=0.5),
            measured("resnet50_b1", "float16"),
        ],
        WANTED,
    )
    assert () == found.differs
    assert 16 * 12 / 0.5 == found.per_second


def test_another_run_says_how_it_differs():
    found = nearest([measured("resnet50_b16_t2"), measured("resnet50_b1")], WANTED)
    assert ("2 at once", "float32") == found.differs


def test_the_nearest_number_of_threads_counts_before_the_batch():
    """However far the batch is."""
    runs = [measured("resnet50_b16_t2", "float16"), measured("resnet50_b1_t10", "float16")]
    assert ("batch 1", "10 at once") == nearest(runs, WANTED).differs


def test_of_runs_equally_near_the_fastest_is_taken():
    """Eager, compiled or exported; int8 stands for int8 alone, however fast it is."""
    eager = measured("resnet50_b16_t12", "float16", seconds=2.0)
    compiled = measured("resnet50_b16_t12", "float16", seconds=1.0, execution="compiled")
    exported = measured("resnet50_b16_t12", "float16", seconds=3.0, execution="onnxruntime")
    int8 = measured("resnet50_b16_t12", "int8", seconds=0.1, execution="compiled")
    found = nearest([eager, compiled, exported, int8], WANTED)
    assert (found.point, found.differs) == (compiled, ("compiled",))
    assert eager == nearest([eager, exported], WANTED).point
    assert int8 == nearest([eager, compiled, int8], replace(WANTED, precision="int8")).point
    assert nearest([int8], WANTED) is None


def test_a_run_on_an_accelerator_stands_for_one_and_is_named():
    """So does one on a processor; other caches and settings than the usual ones do not count."""
    cpu = measured("resnet50_b16_t12", "float16")
    card = measured("resnet50_b16_t12", "float16", seconds=0.1, device="cuda")
    odd = [card._replace(cache="cold"), cpu._replace(settings=(("OMP_PROC_BIND", "true"),))]
    assert (cpu, ()) == (nearest([card, cpu], WANTED).point, nearest([card, cpu], WANTED).differs)
    assert ("on cuda",) == nearest([card], WANTED).differs
    assert card == nearest([card, cpu], replace(WANTED, accelerator=True)).point
    assert nearest(odd, WANTED) is None
    like = replace(WANTED, accelerator=True)
    assert [] == missing_reasons.missing_reasons(
        like, nearest([card], like), missing_reasons.Resources()
    )


def latency_run(by, seconds, **said):
    usual = {"kind": "latency", "model": "resnet50", "batch": 16, "threads": 12, "by": by}
    usual |= {"precision": "float16", "device": "cpu", "release": "torch-2", "batches": 9}
    return usual | {"median_seconds": seconds} | said


def test_stored_runs_of_latency_are_compared_with_published_figures():
    """But for one that asv measured too, and for those of unknown releases, models or threads."""
    release = Release("torch", "2", date(2026, 1, 2))
    eager = measured("resnet50_b16_t12", "float16", seconds=2.0, release=release)
    runs = [
        latency_run("eager", 1.0),
        latency_run("onnxruntime", 0.5),
        latency_run("compiled", 0.1, model="nonsense"),
        latency_run("compiled", 0.1, release="torch-3"),
        latency_run("compiled", 0.1, inter_op=2),
        latency_run("compiled", 0.1, kind="scaling"),
    ]
    found = with_latency_runs("box", [eager], runs, {"torch-2": release})
    assert [("eager", 2.0), ("onnxruntime", 0.5)] == [(p.execution, p.seconds) for p in found]
    assert ("onnxruntime",) == nearest(found, WANTED).differs
    assert "no interval stored" == found[1].without_interval
    alone = with_latency_runs("box", [], runs, {"torch-2": release})
    assert [("box", 1.0), ("box", 0.5)] == [(p.machine, p.seconds) for p in alone]


def test_other_networks_passes_and_older_releases_do_not_count():
    others = [
        measured("resnet50_v1p5_b16"),
        measured("resnet50_b64", operation="training_step"),
    ]
    assert nearest(others, WANTED) is None


def test_mixed_precision_is_bfloat16_or_float16():
    wanted = PublishedConditions("wide_deep", "training_step", "mixed", 16000, 1)
    found = nearest(
        [
            measured("wide_deep_b16000", "float32", "training_step"),
            measured("wide_deep_b1200", "bfloat16", "training_step"),
        ],
        wanted,
    )
    assert ("batch 1200",) == found.differs


def test_the_framework_of_the_table_comes_first_and_another_is_named():
    """Though it was measured with a smaller batch, and on an older release."""
    newer, older = date(2026, 1, 2), date(2025, 1, 2)
    runs = [
        measured("lstm_b64", operation="training_step", release=Release("torch", "2", newer)),
        measured("lstm_b16", operation="training_step", release=Release("mindspore", "2", older)),
    ]
    wanted = PublishedConditions("lstm", "training_step", "", 64, 1, framework="mindspore")
    assert nearest(runs, wanted).point is runs[1]
    assert nearest(runs[:1], wanted).differs[0] == "torch"


def test_an_interval_of_seconds_turns_into_one_of_items():
    found = nearest(
        [measured("resnet50_b16_t12", "float16", seconds=2, low=1, high=4, samples=9)], WANTED
    )
    assert (16 * 12 / 4, 16 * 12) == found.interval


@pytest.mark.slow
def test_operations_of_a_model_are_its_products():
    pytest.importorskip("torch")
    from deepbench_ops.measure.step_breakdown import LONGEST_ALONE

    said = deepbench("ops", "mmoe", "--batch", 64, "--format", "json")
    assert said.exit_code == 0, said.output
    found = json.loads(said.output)
    products = [op for op in found["operations"] if op["kind"] == "gemm"]
    experts = next(op for op in products if "499x32" in op["operands"])
    assert 2 * 64 * 499 * 32 == experts["flops"]
    assert 2 == sum(op["calls"] for op in products if "499x8" in op["operands"])
    assert found["step_seconds"] > 0
    for op in found["operations"]:
        assert op["seconds_in_step"] == pytest.approx(op["share"] * found["step_seconds"])
    longer = found["operations_alone_seconds"] / found["step_seconds"]
    if longer > LONGEST_ALONE:  # a neighbour took a core meanwhile
        assert found["overhead"] is None
    else:
        assert 1 - longer == pytest.approx(found["overhead"])


@pytest.mark.slow
def test_every_line_of_operations_as_csv_tells_the_whole_step():
    """So that files of several models can be put below each other; with the fewest lines too."""
    pytest.importorskip("torch")
    from deepbench_ops.measure.step_breakdown import LONGEST_ALONE

    said = deepbench("ops", "mmoe", "--batch", 64, "--format", "csv", "--top", 3)
    lines = list(csv.DictReader(io.StringIO(said.output)))
    assert 3 == len(lines)
    for line in lines:
        whole, alone = float(line["step_seconds"]), float(line["operations_alone_seconds"])
        assert ("mmoe", "64", "forward") == (line["model"], line["batch"], line["pass"])
        if alone / whole > LONGEST_ALONE:  # a neighbour took a core meanwhile
            assert line["overhead"] == ""
        else:
            assert 1 - alone / whole == pytest.approx(float(line["overhead"]))
        assert float(line["seconds_in_step"]) / whole == pytest.approx(float(line["share"]))


@pytest.mark.slow
def test_a_network_of_today_is_listed_by_families():
    """Layers by problem, with the id where the lists have it, each share once, FLOPs as listed."""
    pytest.importorskip("torch")
    said = deepbench("ops", "vit_b16", "--format", "json")
    assert said.exit_code == 0, said.output
    found = json.loads(said.output)
    assert "operations" not in found
    lines = {line["title"]: line for line in found["families"] if line["family"]}
    attention = lines["attention 12 heads of 64, 197 x 197"]
    assert (12, "attention", "") == tuple(
        attention[each] for each in ("calls", "family", "problem")
    )
    assert 2 * 12 * 197 * 197 * 128 == attention["flops"]
    assert 4 * 4 * 12 * 197 * 64 == attention["bytes"]
    assert 12 == lines["linear layer of 3072 inputs, 768 outputs, 197 tokens, bias"]["calls"]
    assert 24 == lines["LayerNorm 197 x 768"]["calls"]
    whole = sum(line["flops"] * line["calls"] for line in lines.values() if line["flops"])
    assert find("model", "vit_b16_b1").flops == pytest.approx(whole, rel=0.01)
    for line in found["families"]:
        assert line["seconds_in_step"] == pytest.approx(line["share"] * found["step_seconds"])


@pytest.mark.slow
def test_the_table_by_families_shows_ids_words_and_names_of_other_operations():
    """For any network that is asked for by families."""
    pytest.importorskip("torch")
    said = deepbench("ops", "mmoe", "--batch", 64, "--by", "family")
    assert said.exit_code == 0, said.output
    rows = [re.split(r"\s{2,}", line.strip()) for line in said.output.splitlines()]
    assert ["family", "problem", "direction", "calls"] == rows[0][:4]
    shown = {row[1]: row[3] for row in rows if row[0] == "linear_layer"}
    assert "2" == shown["linear layer of 499 inputs, 8 outputs, 64 tokens, bias"]
    assert any(row[0] == "_softmax" for row in rows)


def test_lines_of_families_know_the_ids_of_the_lists():
    """A problem of the list has its id; another one of the same family has words alone."""
    pytest.importorskip("torch")
    from deepbench_ops.commands import ops
    from deepbench_ops.measure.step_breakdown import FamilyShare, StepBreakdown
    from deepbench_ops.problems.linear_layer import LinearLayer

    listed, other = LinearLayer(128, 6144, 4096), LinearLayer(127, 6144, 4096)
    whole = StepBreakdown(1.0, ())
    for problem, id in ((listed, "linear_m128_n6144_k4096"), (other, "")):
        part = FamilyShare(problem, "backward", ("backward_input", "backward_weight"), 3, 0.3)
        line = ops._family_line(whole, part, "bfloat16")
        assert (id, 3, 0.3) == (line["problem"], line["calls"], line["share"])
        assert 4 * problem.m * 6144 * 4096 == line["flops"]
        assert 10 * line["flops"] == pytest.approx(line["flop_per_second"])


@pytest.mark.parametrize("variable", ["DEEPBENCH_EXECUTION=compiled", "DEEPBENCH_CACHE=cold"])
def test_operations_are_listed_eager_and_warm_alone(variable, monkeypatch):
    """A condition that would have no effect is refused."""
    monkeypatch.setenv(*variable.split("="))
    said = deepbench("ops", "mmoe")
    assert isinstance(said.exception, DeepbenchError)
    refusal = f"{variable.replace('=', ' is ')}: deepbench ops lists the operations of eager"
    assert str(said.exception).startswith(refusal)


@pytest.mark.parametrize(
    ("layout", "line"), [("nonsense", "is 'nonsense'"), ("channels_last", "mmoe has no pictures")]
)
def test_the_layout_of_listed_operations_is_that_asked_for(layout, line, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("DEEPBENCH_LAYOUT", layout)
    said = deepbench("ops", "mmoe")
    assert isinstance(said.exception, (DeepbenchError, Unsupported))
    assert line in str(said.exception)


@pytest.mark.parametrize("layout", ["published", "channels_last"])
def test_an_unusual_layout_of_operations_is_printed(layout, monkeypatch):
    """The steps are not measured here."""
    pytest.importorskip("torch")
    from deepbench_ops.backends import output_check
    from deepbench_ops.backends.torch_backend.backend import TorchBackend
    from deepbench_ops.measure import step_breakdown

    layouts = []
    monkeypatch.setenv("DEEPBENCH_LAYOUT", layout)
    monkeypatch.setattr(output_check, "verify", lambda *_: None)
    monkeypatch.setattr(TorchBackend, "build", lambda self, *_: layouts.append(self.layout))
    empty = step_breakdown.StepBreakdown(1.0, ())
    monkeypatch.setattr(step_breakdown, "breakdown", lambda *_, **__: empty)
    asked = ["ops", "mobilenet_v2", "--by", "operation"]
    said = deepbench(*asked, "--format", "json")
    assert said.exit_code == 0, said.output
    unusual = layout != "published"
    assert (layout if unusual else None) == json.loads(said.stdout).get("layout")
    assert unusual == ("in channels_last layout a step takes" in deepbench(*asked).stdout)
    assert [layout] * 2 == layouts


def test_latency_is_that_of_a_batch_and_throughput_counts_all_at_once():
    pytest.importorskip("torch")
    said = deepbench(
        *("latency", "mmoe", "--batch", 64, "--threads", 2, "--seconds", 0.01, "--batches", 100),
        *("--format", "json"),
    )
    assert said.exit_code == 0, said.output
    found = json.loads(said.output[said.output.index("{") :])
    assert found["median_seconds"] <= found["p90_seconds"] <= found["p99_seconds"]
    assert 2 * 64 / found["median_seconds"] == pytest.approx(found["items_per_second"])
    assert found["batches"] >= 100 and {} == found["why_not"]


def test_the_throughput_of_a_network_has_its_unit():
    pytest.importorskip("torch")
    said = deepbench("latency", "mmoe", "--batch", 64, "--seconds", 0.01)
    assert said.exit_code == 0, said.output
    assert re.search(r"throughput: [\d.e+]+ samples a second\n", said.output)


def test_few_batches_have_no_percentiles_and_say_so():
    """However short the time, there is one batch."""
    pytest.importorskip("torch")
    said = deepbench("latency", "mmoe", "--batch", 64, "--seconds", 1e-9)
    assert said.exit_code == 0, said.output
    assert "90 % none of 1 batches (--batches 10), 99 % none of 1 batches" in said.output


def test_latency_runs_the_way_that_asv_run_would(monkeypatch):
    """The variables of run conditions count where --by and --layout are not given."""
    command = cli.get_command(None, "latency")
    monkeypatch.setenv("DEEPBENCH_EXECUTION", "onnxruntime")
    monkeypatch.setenv("DEEPBENCH_LAYOUT", "channels_last")
    asked = command.make_context("latency", ["mmoe"]).params
    assert ("onnxruntime", "channels_last") == (asked["execution"], asked["layout"])
    assert "eager" == command.make_context("latency", ["mmoe", "--by", "eager"]).params["execution"]


@pytest.mark.slow
def test_layout_and_threads_between_operations_are_run_options(monkeypatch):
    """torch takes their number once in a process, which this stands in for."""
    torch = pytest.importorskip("torch")
    between = torch.get_num_interop_threads()
    asked = ["--layout", "channels_last", "--inter-op", between, "--seconds", 0.1]
    said = deepbench("latency", "mobilenet_v2", *asked, "--format", "json")
    assert said.exit_code == 0, said.output
    found = json.loads(said.output[said.output.index("{") :])
    assert ("channels_last", between) == (found["layout"], found["inter_op"])
    assert (threads.wanted(), between) == (found["intra_op_threads"], found["inter_op_threads"])
    monkeypatch.setattr(torch, "set_num_interop_threads", _too_late)
    late = deepbench("latency", "mobilenet_v2", "--inter-op", between + 1)
    assert "start a new process" in str(late.exception)


def _too_late(count):
    raise RuntimeError("cannot set number of interop threads after parallel work has started")


def test_a_saved_run_bears_its_conditions(tmp_path, monkeypatch):
    """Under the machine's name, with the facts that a reader would ask for; never a rate."""
    pytest.importorskip("torch")
    monkeypatch.setenv("HOME", str(tmp_path))
    asked = ["latency", "mmoe", "--batch", 64, "--seconds", 0.2, "--save", "--results", tmp_path]
    nameless = deepbench(*asked)
    assert "this machine has no name yet" in str(nameless.exception)
    machine_entry.save({"machine": "box", "os": "Linux"})
    said = deepbench(*asked)
    assert said.exit_code == 0, said.output
    (run,) = model_runs.load(tmp_path / "box")
    assert ("mmoe", 64, "eager") == (run["model"], run["batch"], run["by"])
    assert {"cpu", "threads", "python", "framework", "revision"} <= set(run["conditions"])
    assert not {"item", "items_per_second"} & {*run}
    assert {"machine": "box", "os": "Linux"} == machine_entry.of_results(tmp_path, "box")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("latency", "resnet51"), "unknown model 'resnet51'"),
        (("latency", "resnet50", "--batch", 0), "--batch is 0: give 1 or more"),
        (("latency", "resnet50", "--at-once", 0), "--at-once is 0: give 1 or more"),
        *((("latency", "resnet50", "--seconds", each), f"--seconds is {each}") for each in LENGTHS),
        (("latency", "resnet50", "--batches", 0), "--batches is 0: give 1 or more"),
        (("latency", "resnet50", "--inter-op", 0), "--inter-op is 0: give 1 or more"),
        (("latency", "mmoe", "--by", "onnxruntime", "--inter-op", 2), "one after the other"),
        (("latency", "mmoe", "--layout", "channels_last"), "no pictures"),
        (("latency", "mmoe", "--precision", "fp8_row"), "model is not measured in fp8_row: choose"),
        (("ops", "mmoe", "--precision", "mxfp4"), "model is not measured in mxfp4: choose one of"),
        (("ops", "mmoe", "--precision", "int8"), "mmoe --precision int8 --by compiled times"),
        (("ops", "resnet51"), "unknown model 'resnet51'"),
        (("ops", "resnet50", "--batch", 0), "--batch is 0: give 1 or more"),
        (("ops", "bert_large_128", "--batch", 100000), "give a smaller --batch"),
        (("scaling", "mmoe", "--precision", "mxfp4"), "model is not measured in mxfp4: choose one"),
        (("scaling", "resnet50", "--ranks", "two"), "--ranks is 'two'"),
        (("scaling", "resnet50", "--ranks", "0"), "--ranks is '0'"),
        (("scaling", "resnet50", "--batch", "0"), "batch is 0"),
        (("scaling", "resnet50", "--split"), "resnet50 has no tables to split"),
        (("scaling", "resnet50", "--ranks", "9999"), "9999 ranks on"),
        (("scaling", "resnet50", "--seconds", "nan"), "seconds is nan: give a number above 0"),
        (("scaling", "resnet50", "--seconds", "inf"), "seconds is inf: give a number above 0"),
        (("scaling", "resnet50", "--seconds", "0"), "seconds is 0: give a number above 0"),
        (("scaling", "resnet50", "--seconds", "-1"), "seconds is -1: give a number above 0"),
    ],
)
def test_bad_input_gets_one_clear_line(arguments, line):
    if arguments[0] != "scaling":
        pytest.importorskip("torch")
    said = deepbench(*arguments)
    assert isinstance(said.exception, (DeepbenchError, Unsupported))
    assert line in str(said.exception)


def test_without_torch_nothing_scales(monkeypatch):
    """One line says so, where a traceback stood."""

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("deepbench_ops.commands.whole_model_setup.version", missing)
    said = deepbench("scaling", "mmoe", "--batch", 8)
    assert isinstance(said.exception, DeepbenchError)
    assert "'make models' installs it" in str(said.exception)


def test_a_request_survives_the_command_line():
    asked = TrainingRequest("wide_deep", 8, split=True)
    assert asked == parsed(asked.text())
    with pytest.raises(DeepbenchError, match="is no request for a training"):
        parsed("{")


@pytest.mark.slow
def test_two_ranks_train_as_one_would_whether_tables_are_copied_or_split():
    """The loss of the second step tells whether the gradients of the first were shared."""
    pytest.importorskip("torch")
    from deepbench_ops.distributed.training import training_launch

    copied, split = (
        training_launch.steps(
            TrainingRequest("wide_deep", 16, seconds=0.01, split=split, whole=False), 2
        )
        for split in (False, True)
    )
    assert copied["losses"] == pytest.approx(split["losses"], rel=1e-5)
    assert copied["losses"][0] != copied["losses"][1]


def test_scaling_counts_the_items_of_all_ranks(monkeypatch):
    from deepbench_ops.distributed.training import training_launch

    taken = {1: [2.0, 1.0, 3.0], 2: [2.5]}
    monkeypatch.setenv("DEEPBENCH_THREADS", "2")
    monkeypatch.setattr(training_launch, "steps", lambda request, ranks: {"seconds": taken[ranks]})
    said = deepbench("scaling", "mmoe", "--batch", 64, "--ranks", "1,2", "--format", "json")
    assert said.exit_code == 0, said.output
    one, two = json.loads(said.output)
    assert (64, 128) == (one["batch"], two["batch"])
    assert (1, 0.8) == (one["efficiency"], two["efficiency"])
    assert 128 / 2.5 == two["items_per_second"]


def test_scaling_counts_tokens_in_a_step_as_in_a_second(monkeypatch):
    """A prompt of a language model has 128; the column names them."""
    from deepbench_ops.distributed.training import rank_memory, training_launch

    monkeypatch.setenv("DEEPBENCH_THREADS", "1")
    monkeypatch.setattr(rank_memory.free_memory, "available", lambda: 1e15)
    monkeypatch.setattr(training_launch, "steps", lambda request, ranks: {"seconds": [2.0]})
    asked = ["scaling", "llama_1b_4layers_128", "--batch", 3, "--ranks", 1]
    (line,) = json.loads(deepbench(*asked, "--format", "json").stdout)
    assert (3, "tokens", 384) == (line["batch"], line["item"], line["items"])
    assert 384 / 2.0 == line["items_per_second"]
    head, _, row = deepbench(*asked).stdout.splitlines()[:3]
    assert ["tokens a step", "tokens/s"] == re.findall(r"tokens \w+ \w+|tokens/s", head)
    assert {"384", "192"} <= {*row.split()}


def test_the_fewest_ranks_come_first_and_are_what_efficiency_is_against(monkeypatch):
    from deepbench_ops.distributed.training import training_launch

    monkeypatch.setenv("DEEPBENCH_THREADS", "4")
    monkeypatch.setattr(
        training_launch, "steps", lambda request, ranks: {"seconds": [float(ranks)]}
    )
    said = deepbench("scaling", "mmoe", "--ranks", "4,2,4")
    assert "efficiency against 2 ranks" in said.output
    assert ["2", "4"] == [line.split()[0] for line in said.output.splitlines()[2:]]


def test_ranks_that_do_not_fit_together_are_refused_before_any_starts(monkeypatch):
    """Though one alone would fit, which is asked for first."""
    from deepbench_ops.distributed.training import rank_memory, training_launch

    one = rank_memory.of_rank(TrainingRequest("bert_128", 8), 1)
    monkeypatch.setenv("DEEPBENCH_THREADS", "2")
    monkeypatch.setattr(rank_memory.free_memory, "available", lambda: 1.5 * one)
    monkeypatch.setattr(training_launch, "steps", lambda request, ranks: pytest.fail("started"))
    said = deepbench("scaling", "bert_128", "--batch", 8, "--ranks", "1,2")
    assert isinstance(said.exception, DeepbenchError)
    refusal = f"2 ranks of bert_128 with 8 items each need about {2 * one:.3g} bytes of memory"
    assert f"{refusal} on cpu, and {1.5 * one:.3g} are available" in str(said.exception)
    monkeypatch.setattr(rank_memory.free_memory, "available", lambda: 0.5 * one)
    with pytest.raises(DeepbenchError, match=r"^a rank of bert_128 .* give a smaller --batch$"):
        rank_memory.demand(TrainingRequest("bert_128", 8), 1)


def test_ranks_that_split_their_tables_need_less_each_the_more_they_are():
    from deepbench_ops.distributed.training import rank_memory

    asked = TrainingRequest("wide_deep", 1000, split=True)
    assert rank_memory.of_rank(asked, 4) < rank_memory.of_rank(asked, 2)
    assert rank_memory.of_rank(asked, 2) < rank_memory.of_rank(replace(asked, split=False), 2)


@pytest.mark.slow
def test_ranks_that_fail_end_the_run_with_what_they_said():
    pytest.importorskip("torch")
    from deepbench_ops.distributed.training import training_launch

    with pytest.raises(DeepbenchError, match="2 ranks of mmoe failed"):
        training_launch.steps(TrainingRequest("mmoe", 8, device="cuda"), 2)

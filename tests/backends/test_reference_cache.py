"""Cache of references: the same values as computed ones, and never those of other operands."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from deepbench_ops.backends import families, output_check, reference_cache
from deepbench_ops.backends.kernel import ReferenceSource
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.backends.reference_cache import StoredReferences
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.problem_lists import FAMILIES, TYPES, load
from deepbench_ops.storage import checked_file

INDEX = (np.array([0, 3, 3]), np.array([1, 0, 2]))


class Counted:
    """A reference whose values follow from its operands; it counts how often it computes."""

    shape = (4, 5)

    def __init__(self, operands, kind=np.float64):
        self.operands, self.kind, self.computed = operands, kind, 0

    def everywhere(self):
        raise AssertionError("only entries are asked for")

    def at(self, index):
        self.computed += 1
        place = np.ravel_multi_index(index, self.shape)
        values = (self.operands["x"][place] * (np.pi if self.kind is float else 1)).astype(
            self.kind
        )
        return values, values.astype(np.float64) / 3 + 1e-300


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache that stores all values, however fast they are computed."""
    monkeypatch.setenv(reference_cache.FOLDER_VARIABLE, str(tmp_path / "references"))
    monkeypatch.setattr(reference_cache, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(reference_cache, "DIGEST_RATE", 1e30)
    return tmp_path / "references"


def operands(seed=0):
    random = np.random.default_rng(seed)
    return {"x": random.standard_normal(20) * 100, "classes": random.integers(0, 9, (3, 2))}


def source(arrays, name=("family", "problem", "float32", "forward")):
    return ReferenceSource(name, lambda: arrays)


@pytest.mark.parametrize("kind", [float, np.int64])
def test_stored_values_are_the_computed_ones_to_the_last_bit(folder, kind):
    """Another process reads the same bits, in the same types, and computes nothing."""
    arrays = operands()
    first, other = Counted(arrays, kind), Counted(arrays, kind)
    computed, _ = StoredReferences(source(arrays)).at("", first, INDEX)
    read, stored = StoredReferences(source(operands())).at("", other, INDEX)
    assert stored
    assert (1, 0) == (first.computed, other.computed)
    assert [each.tobytes() for each in computed] == [each.tobytes() for each in read]
    assert [each.dtype for each in computed] == [each.dtype for each in read]


def changed_operands():
    """Yield operands that differ from the first ones in one respect each."""
    for name, place in product(("x", "classes"), (0, -1)):
        arrays = operands()
        arrays[name].reshape(-1).view(np.uint8)[place] ^= 1
        yield arrays
    yield {**operands(), "x": operands()["x"].reshape(4, 5).T.reshape(-1)}
    yield {**operands(), "classes": operands()["classes"].T}
    yield {**operands(), "more": np.zeros(1)}
    yield {"x": operands()["x"]}
    yield {**operands(), "classes": operands()["classes"].view(np.uint64)}


@pytest.mark.parametrize("number", range(9))
def test_values_of_other_operands_count_as_absent(folder, number):
    """One bit, another order, type or shape, and an operand more or fewer are noticed."""
    arrays = list(changed_operands())[number]
    StoredReferences(source(operands())).at("", Counted(operands()), INDEX)
    again = Counted(arrays)
    found, stored = StoredReferences(source(arrays)).at("", again, INDEX)
    assert (False, 1) == (stored, again.computed)
    assert Counted(arrays).at(INDEX)[0].tobytes() == found[0].tobytes()


@pytest.mark.parametrize(
    ("output", "name", "index"),
    [
        ("gradient of B", "forward", INDEX),
        ("", "backward", INDEX),
        ("", "forward", INDEX[::-1]),
        ("", "forward", (INDEX[0][:2], INDEX[1][:2])),
    ],
)
def test_values_of_another_output_or_of_other_entries_count_as_absent(folder, output, name, index):
    """Each output of each operation has its own values at its own entries."""
    arrays = operands()
    StoredReferences(source(arrays)).at("", Counted(arrays), INDEX)
    again = Counted(arrays)
    wanted = source(arrays, ("family", "problem", "float32", name))
    found, _ = StoredReferences(wanted).at(output, again, index)
    assert 1 == again.computed
    assert Counted(arrays).at(index)[0].tobytes() == found[0].tobytes()


@pytest.mark.parametrize(("changed", "files"), [("code", 1), ("numpy", 2)])
def test_values_of_other_code_count_as_absent(folder, monkeypatch, changed, files):
    """A change of this program computes the values again and stores these; each numpy has its own,
    since releases with different ones are measured in turns."""
    arrays = operands()
    StoredReferences(source(arrays)).at("", Counted(arrays), INDEX)
    if changed == "code":
        monkeypatch.setattr(reference_cache, "code", lambda: "another version")
    else:
        monkeypatch.setattr(np, "__version__", "1.0")
    again = Counted(arrays)
    for _ in range(2):
        StoredReferences(source(arrays)).at("", again, INDEX)
    assert 1 == again.computed
    assert files == len(list(folder.iterdir()))


def test_a_damaged_file_counts_as_absent(folder):
    """A file with any bit flipped, a cut one, and another one: the values are computed again."""
    arrays = operands()
    StoredReferences(source(arrays)).at("", Counted(arrays), INDEX)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    for place, content in enumerate(
        [b"", b"{}", whole[:-1], whole[65:]]
        + [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    ):
        path.write_bytes(content)
        again = Counted(arrays)
        StoredReferences(source(arrays)).at("", again, INDEX)
        assert 1 == again.computed, place
        assert path.read_bytes() == whole


def test_values_that_are_computed_fast_are_not_stored(folder, monkeypatch):
    """A digest of the operands would take longer than they do."""
    monkeypatch.setattr(reference_cache, "LONG_SECONDS", 10.0)
    arrays = operands()
    StoredReferences(source(arrays)).at("", Counted(arrays), INDEX)
    monkeypatch.setattr(reference_cache, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(reference_cache, "DIGEST_RATE", 1e-9)
    StoredReferences(source(arrays)).at("", Counted(arrays), INDEX)
    assert not folder.exists()


def test_a_kernel_without_a_known_source_stores_nothing(folder):
    """References that read the kernel's own outputs are computed in every process."""
    reference = Counted(operands())
    for _ in range(2):
        assert not StoredReferences(None).at("", reference, INDEX)[1]
    assert 2 == reference.computed
    assert not folder.exists()


def test_the_oldest_files_make_room(folder, monkeypatch):
    """The folder has no more files than allowed, and keeps the newest."""
    monkeypatch.setattr(reference_cache, "MOST_FILES", 3)
    arrays = operands()
    for number in range(5):
        StoredReferences(source(arrays)).at(str(number), Counted(arrays), INDEX)
        assert len(list(folder.iterdir())) == min(number + 1, 3)
    newest = Counted(arrays)
    StoredReferences(source(arrays)).at("4", newest, INDEX)
    assert 0 == newest.computed


def test_a_folder_that_cannot_be_written_stops_nothing(folder):
    """The values are computed, and the check goes on."""
    folder.write_text("a file, where the folder should be")
    arrays = operands()
    found, stored = StoredReferences(source(arrays)).at("", Counted(arrays), INDEX)
    assert not stored
    assert Counted(arrays).at(INDEX)[0].tobytes() == found[0].tobytes()


def stored_file(folder):
    (path,) = folder.iterdir()
    return path


@pytest.fixture
def softmax():
    """A kernel of numpy, at full size for its check."""
    kernel = NumpyBackend().build(families.small(load("softmax")[0]), "float32")
    assert kernel.source is not None
    return kernel


def test_a_wrong_output_fails_whether_the_values_are_stored_or_not(folder, softmax):
    """A process that reads the values finds the same wrong entry as one that computes them."""
    wrong = replace(softmax, peek=lambda index: softmax.peek(index) * 1.001)
    messages = []
    for kernel in (wrong, softmax, wrong, softmax):
        try:
            output_check.verify_output(kernel)
            messages.append("ok")
        except DeepbenchError as fault:
            messages.append(str(fault))
    assert stored_file(folder).exists()
    assert ["ok", "ok"] == messages[1::2]
    assert messages[0] == messages[2]
    assert "wrong result" in messages[0]


def test_no_kernel_fails_by_stored_values_alone(folder, softmax, monkeypatch):
    """Where stored values contradict an output, computed ones decide."""
    output_check.verify_output(softmax)
    path = stored_file(folder)
    monkeypatch.setattr(reference_cache, "code", lambda: "the same")
    path.unlink()
    output_check.verify_output(softmax)
    index = output_check.spot_entries(softmax.reference, softmax.flops)
    made_of = (
        f"the same numpy {np.__version__} entries"
        f" {reference_cache.digest_of({f'axis {n}': axis for n, axis in enumerate(index)})}"
    )
    content = json.loads(checked_file.read(path, 10**6, made_of))
    content["values"][0][1] = [value + 1 for value in content["values"][0][1]]
    checked_file.write(path, json.dumps(content).encode(), made_of)
    assert StoredReferences(softmax.source).at("", softmax.reference, index)[1]
    assert output_check.verify_output(softmax).ok


def test_references_of_one_name_are_the_same_and_have_the_same_operands():
    """Operations of a family that share a name share every bit of every reference."""
    compared = 0
    for family in (each for each in FAMILIES if not TYPES[each].ranks):
        module = families.module_of(load(family)[0])
        if not hasattr(module, "reference_name"):
            continue
        for problem, precision in product(
            {each.id: each for each in map(families.small, load(family))}.values(),
            ("float32", "bfloat16"),
        ):
            if precision in problem.precisions:
                compared += of_one_name(module, problem, precision)
    assert compared > 20


def of_one_name(module, problem, precision):
    """Compare the operations of a problem with the first one of their name; return how many."""
    seen, compared = {}, 0
    for operation in problem.operations:
        drawn = module.inputs(problem, precision)
        made = families.references(problem, drawn, precision, operation)
        found = {
            name: [each.tobytes() for each in reference.everywhere()]
            for name, reference in made.items()
        }
        found["operands"] = reference_cache.digest_of(drawn.of(operation))
        name = module.reference_name(operation, precision)
        compared += name in seen
        assert seen.setdefault(name, found) == found, (problem.id, precision, operation)
    return compared

"""Cache of a run: an answer of one process reaches the next one, for the same question only."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.backends import run_cache
from deepbench_ops.backends.run_cache import RunCache

KEYS = st.tuples(st.text(max_size=5), st.integers(), st.booleans())


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A folder that processes share, as in an asv run."""
    monkeypatch.setenv(run_cache.FOLDER_VARIABLE, str(tmp_path / "answers"))
    return tmp_path / "answers"


@pytest.mark.parametrize("answer", [0.5, [1e-7, 2e-7], "text"])
def test_another_process_has_the_answer(shared, answer):
    """One object, standing for a process, reads the answers of another one."""
    RunCache("rate").put(("numpy", 3), answer)
    assert RunCache("rate").get(("numpy", 3)) == answer


def test_another_question_or_thing_has_no_answer(shared):
    """Rates are no checks, and one problem's rate is not another's."""
    RunCache("rate").put(("numpy", 3), 0.5)
    assert RunCache("check").get(("numpy", 3)) is None
    assert RunCache("rate").get(("numpy", 4)) is None


def test_a_new_answer_takes_the_place_of_the_old(shared):
    """The last one counts, and no half written file is left."""
    rates = RunCache("rate")
    rates.put("a", 1.0)
    rates.put("a", 2.0)
    assert RunCache("rate").get("a") == 2.0
    assert [".json"] == [path.suffix for path in shared.iterdir()]


def test_a_damaged_file_counts_as_absent(shared):
    """Each flipped bit, a cut, and a file of something else: the value is computed again."""
    RunCache("rate").put("a", 0.5)
    (path,) = shared.iterdir()
    whole = path.read_bytes()
    damaged = [whole[:-1], b"", b"0.5", b"\xff"]
    for place, bit in product(range(len(whole)), range(8)):
        damaged.append(bytes(c ^ (1 << bit) * (at == place) for at, c in enumerate(whole)))
    for content in damaged:
        path.write_bytes(content)
        assert RunCache("rate").get("a") is None
    path.write_bytes(whole)
    assert 0.5 == RunCache("rate").get("a")


@given(answers=st.dictionaries(KEYS, st.integers()))
def test_without_a_folder_a_process_keeps_its_own(answers):
    """Every key has its own answer, and another object knows nothing of it."""
    own = RunCache("rate")
    for key, answer in answers.items():
        own.put(key, answer)
    assert answers == {key: own.get(key) for key in answers}
    assert all(RunCache("rate").get(key) is None for key in answers)


def test_a_folder_that_takes_nothing_keeps_no_value_from_its_process(monkeypatch, tmp_path):
    """As on a full disk: here a file is in the place of the folder."""
    (tmp_path / "answers").write_text("")
    monkeypatch.setenv(run_cache.FOLDER_VARIABLE, str(tmp_path / "answers"))
    held = RunCache("question")
    held.put("key", 1)
    assert (1, None) == (held.get("key"), RunCache("question").get("key"))

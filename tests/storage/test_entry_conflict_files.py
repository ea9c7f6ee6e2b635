"""The file of conflicts of a machine's runs and rounds."""

import random

import pytest

from deepbench_ops.asv_adapter import damaged_file_search
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import compression, entry_conflict_files, facts_digest, json_lines
from deepbench_ops.storage.entry_conflict_files import EntryConflicts, EntryVersion

FACTS = {"os": "Linux"}
DIGEST = facts_digest.digest(FACTS)
RUN = {
    **{"kind": "latency", "model": "mmoe", "batch": 8, "threads": 1, "precision": "float32"},
    **{"by": "eager", "device": "cpu", "release": "torch-2.13.0", "median_seconds": 1.0},
}
ROUND = {
    **{"family": "gemm", "problem": "m1_n1_k1_NN", "precision": "float32", "operation": "forward"},
    **{"round": "1-1", "version": "1", "started_at": 1.0, "ended_at": 2.0, "reasons": {}},
    **{"anchor": "torch-2.13.0", "seconds": {"torch-2.13.0": [0.5]}},
    "fingerprints": {"torch-2.13.0": DIGEST},
}
RUNS = [EntryVersion("model_runs.jsonl", {**RUN, "median_seconds": each}) for each in (1.0, 2.0)]
ROUNDS = [
    EntryVersion("ensembles/torch.jsonl.gz", {**ROUND, "seconds": {"torch-2.13.0": [each]}}, wrong)
    for each, wrong in ((0.5, False), (0.6, True))
]
CONTENT = EntryConflicts({DIGEST: FACTS}, {RUNS[0].key: RUNS, ROUNDS[0].key: ROUNDS})


def test_versions_are_read_as_they_were_written(tmp_path):
    """With the facts that they name, and in any order the same bytes; none leave no file."""
    path = tmp_path / entry_conflict_files.FILE
    entry_conflict_files.write(tmp_path, CONTENT)
    assert entry_conflict_files.load(tmp_path) == CONTENT
    before = path.read_bytes()
    turned = {key: several[::-1] for key, several in reversed(CONTENT.versions.items())}
    entry_conflict_files.write(tmp_path, EntryConflicts(CONTENT.facts, turned))
    assert before == path.read_bytes()
    entry_conflict_files.write(tmp_path, EntryConflicts())
    assert not path.exists()
    assert EntryConflicts() == entry_conflict_files.load(tmp_path)


def test_a_flipped_bit_is_one_line(tmp_path):
    """It names the file, and the search for damaged files has it."""
    entry_conflict_files.write(tmp_path, CONTENT)
    path, draw = tmp_path / entry_conflict_files.FILE, random.Random(1)
    content = path.read_bytes()
    for _ in range(20):
        flipped = bytearray(content)
        flipped[draw.randrange(10, len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(DeepbenchError, match=str(path)):
            entry_conflict_files.load(tmp_path)
        assert any(str(path) in line for line in damaged_file_search.of_folder(tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../other/model_runs.jsonl"},
        {"file": "ensembles/../x.jsonl.gz"},
        {"entry": {**RUN, "median_seconds": -1.0}},
        {"entry": {"kind": "speed"}},
        {"file": "ensembles/torch.jsonl.gz"},
    ],
    ids=str,
)
def test_a_line_that_cannot_be_is_named(tmp_path, change):
    """No version is written to a file outside of the machine's folder."""
    line = {"entry": RUN, "file": "model_runs.jsonl", "rejected": False, **change}
    path = tmp_path / entry_conflict_files.FILE
    path.write_bytes(compression.pack(json_lines.as_text([line]).encode()))
    with pytest.raises(DeepbenchError, match="line 1 is not a version of a run or round"):
        entry_conflict_files.load(tmp_path)

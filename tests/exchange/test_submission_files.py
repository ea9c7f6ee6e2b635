"""Files of submissions are read one at a time, and once more when they are stored."""

import copy
import json

import pytest
from example_submissions import GOOD, RELEASES, sealed

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission, submission_files
from deepbench_ops.exchange.unchanged_files import UnchangedFiles


def test_only_files_that_begin_as_submissions_are_read(tmp_path):
    """Others are workbooks, logs or tables. Contents are not kept."""
    names = {"sent.json": json.dumps(GOOD), "log.txt": "a log", "empty": ""}
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    files = submission_files.SubmissionFiles([tmp_path / name for name in names], UnchangedFiles())
    assert [(tmp_path / "sent.json", GOOD)] == list(files.items())
    assert files[tmp_path / "sent.json"] is not files[tmp_path / "sent.json"]
    with pytest.raises(KeyError):
        files[tmp_path / "log.txt"]
    with pytest.raises(DeepbenchError, match="missing"):
        submission_files.SubmissionFiles([tmp_path / "missing"], UnchangedFiles())


def test_a_file_that_changed_after_its_check_is_not_stored(tmp_path):
    """Its times were not checked, also where it is a valid submission again."""
    path = tmp_path / "sent.json"
    path.write_text(json.dumps(GOOD))
    files = submission_files.SubmissionFiles([path], UnchangedFiles())
    [(_, one)] = submission.checked_all(tmp_path / "results", files, RELEASES)
    assert one.content == files[path]
    slower = copy.deepcopy(GOOD)
    slower["results"][0]["points"][0]["seconds"] = 0.7
    path.write_text(json.dumps(sealed(slower)))
    with pytest.raises(DeepbenchError, match=r"sent\.json changed while it was imported"):
        files[path]

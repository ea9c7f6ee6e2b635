"""The page of a machine says who signed the submissions of its results."""

import json
import shutil
from pathlib import Path

from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.pages import cached_line_encoding, catalogue_data, machine_lines
from deepbench_ops.pages.machine_cache import MachineCache
from deepbench_ops.releases import table_location

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "apple-iphone-7"


def submitted(results: Path, cache: Path) -> list[str]:
    """The entry of each machine in the catalogue of the pages."""
    timeline = table_location.load(results)
    stored = MachineCache(cache, "", cached_line_encoding.encode, cached_line_encoding.decode)
    lines, machines, _ = machine_lines.read(results, timeline, stored)
    stored.write()
    releases = {point.release for line in lines for point in line.points}
    places = {release: place for place, release in enumerate(releases)}
    grouped = {(MACHINE, line.points[0].family): [line] for line in lines}
    content = catalogue_data.content("x", machines, places, grouped, [])
    return [each["submitted"] for each in json.loads(json.dumps(content))["machines"]]


def test_the_signer_is_named(tmp_path):
    """Of results without a submission nothing is said; times stored between publishings are new
    where a submission has come in."""
    results, cache = tmp_path / "results", tmp_path / "cache"
    shutil.copytree(RESULTS / MACHINE, results / MACHINE)
    assert [""] == submitted(results, cache)
    submission_provenance.note(results / MACHINE, "sha256:0", None, ["published-2017-07-14"])
    assert ["not signed"] == submitted(results, cache) == submitted(results, cache)
    signer = Signer("lab@vendor.example", "SHA256:abc")
    submission_provenance.note(results / MACHINE, "sha256:0", signer, ["published-2017-07-14"])
    assert ["signed by lab@vendor.example"] == submitted(results, cache)

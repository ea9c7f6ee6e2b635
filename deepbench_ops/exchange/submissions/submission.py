"""Results of a machine in one file, for another project folder to import.

The file is JSON after submission.schema.json. Merging is the same in any order and however often:
of different times for one kernel all are kept, and a signed one is shown, then the one with most
samples, of several such times the longest, with its raw seconds (`submission_merging`); so are
different rounds of histories and runs of whole models (`entry_merging`); of libraries all that were
named; of two profiles the later one, with the yardsticks of both, which must agree.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from deepbench_ops.analysis import wrong_published_times
from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.published_results import ENVIRONMENT
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange import readable_json
from deepbench_ops.exchange.published.published_result_filing import ListDays, entry_of
from deepbench_ops.exchange.submissions import (
    conflict_resolution,
    entry_conflicts,
    entry_merging,
    signed_versions,
    submission_checks,
    submission_model_runs,
    submission_records,
    submission_rounds,
    submission_schema,
)
from deepbench_ops.exchange.submissions.merged_profile import merged
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.exchange.submissions.submission_checks import Point
from deepbench_ops.exchange.submissions.submission_merging import (
    StoredResult,
    empty_result,
    key_of,
    merge,
    shown_of,
    version_ids,
)
from deepbench_ops.exchange.workbooks.xlsx_reader import LARGEST_BYTES
from deepbench_ops.machine import machine_profile, steadiness
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.releases.release_table import Release, publication_of
from deepbench_ops.run_conditions import CONDITIONS, DEVICE
from deepbench_ops.storage import atomic_write, conflict_files, measurement_files, reserved_names
from deepbench_ops.storage.conflict_files import PointVersion, VersionsByKey
from deepbench_ops.storage.entry_conflict_files import EntryVersion
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey

FORMAT, VERSION = "deepbench-submission", 6

NAMED = ("machine", "profile")
"""Fields with the machine's name."""

MEND = "if it is another machine, import it under another name with --machine NAME"
"""For a file whose machine has the name of another one."""


class NameTaken(DeepbenchError):
    """A submission that does not fit the results stored under its machine's name."""


@dataclass(frozen=True)
class CheckedSubmission:
    """A submission that passed all checks.

    releases: one for each of its results. profile: the machine's after the import. sent_as: the
    machine's name in the file, "" for that of `content`.
    """

    content: Any
    releases: tuple[Release, ...]
    profile: Profile
    sent_as: str = ""

    def without_times(self) -> "CheckedSubmission":
        """Return the part that the check of a further submission needs; it takes little memory."""
        results = [
            {name: result[name] for name in ("environment", "variables")}
            for result in self.content["results"]
        ]
        return replace(self, content={"machine": self.content["machine"], "results": results})


def pack(
    results: Path,
    machine: str,
    releases: Mapping[str, Release],
    unsteady: Counter[str] | None = None,
    also_unsteady: bool = False,
) -> dict[str, Any]:
    """Return all results of a machine but wrong published and unsteady times, `releases` being the
    release table by hash. `unsteady` counts the latter by the kind of their reason, and does not if
    `also_unsteady`: then they are packed, too. Of a point, run or round with an open conflict all
    versions are packed that were not rejected.

    Raises DeepbenchError for a machine without results, a profile, or a release of the table, and
    for a damaged file.
    """
    known = machine_profile.read(results, machine)
    described = entry_of(results / machine / "machine.json") if known is not None else None
    if known is None or described is None:
        names = sorted(path.parent.name for path in results.glob("*/machine.profile"))
        raise unknown("machine with a profile", machine, names)
    judge = steadiness.SteadinessJudge.of(results / machine)
    if not also_unsteady:
        known = replace(known, factor_by_chance=judge.apart)
    unsteady = Counter() if unsteady is None else unsteady
    signed = SignedVersions.of(results / machine)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "machine": described,
        "profile": {"version": machine_profile.VERSION, **asdict(known)},
        "results": [
            packed
            for path in result_files.paths(results / machine)
            if (packed := _packed(path, releases, judge, unsteady, also_unsteady, signed))["points"]
        ],
        "ensembles": entry_conflicts.packed_rounds(results / machine),
        submission_model_runs.FIELD: entry_conflicts.packed_runs(results / machine),
    }
    return {**content, "digest": digest(content)}


def text(packed: Mapping[str, Any]) -> str:
    """Return a submission as text. Raises DeepbenchError where `read` would refuse it."""
    found = json.dumps(packed, separators=(",", ":"), allow_nan=False) + "\n"
    if len(found) > LARGEST_BYTES:
        raise DeepbenchError(
            f"{len(found) / 1e6:.0f} MB: the largest is {LARGEST_BYTES / 1e6:.0f} MB"
        )
    return found


def check(submission: Any) -> None:
    """Raise DeepbenchError, with the reason, for a submission that is malformed or impossible."""
    if wrong_text := readable_json.why_not(submission):
        raise DeepbenchError(wrong_text)
    submission_schema.check(submission)
    content = {name: value for name, value in submission.items() if name != "digest"}
    if submission["digest"] != digest(content):
        raise DeepbenchError("its digest does not fit: it was changed after it was packed")
    try:
        known = machine_profile.parse(submission["profile"])
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise DeepbenchError(f"profile: {type(wrong).__name__}: {wrong}") from None
    reserved_names.refuse(known.machine)
    if known.machine != submission["machine"]["machine"]:
        raise DeepbenchError(f"profile: it is of {known.machine!r}, another machine")
    places: set[tuple[str, Any]] = set()
    for result in submission["results"]:
        release = _release(result)
        named = (release.hash, result["environment"])
        measured = (release.hash, _conditions(result["variables"]))
        if {named, measured} & places:
            raise DeepbenchError(f"{release.name} is in it twice")
        places |= {named, measured}
        if result["environment"].startswith(ENVIRONMENT) == release.measurable:
            raise DeepbenchError(f"{release.name}: {result['environment']} is no environment of it")
        check_result(result, known)
        submission_records.check(result)
    if not (submission["results"] or entries(submission)):
        raise DeepbenchError("it has neither times nor runs of models nor rounds of histories")
    submission_rounds.check(submission.get("ensembles", {}), known)
    submission_model_runs.check(submission.get(submission_model_runs.FIELD, ()), known)


def check_result(result: Any, known: Profile) -> None:
    """Raise DeepbenchError for impossible conditions or times of a result.

    known: the profile of its machine, with the peaks.
    """
    submission_checks.check_conditions(result["variables"])
    submission_checks.check(result, known)


def checked_all(
    results: Path,
    submissions: Mapping[Path, Any],
    releases: Mapping[str, Release],
    machine: str | None = None,
) -> Iterator[tuple[Path, CheckedSubmission]]:
    """Yield submissions that can be stored one after the other, with their files; nothing is
    written, and none is held in memory but the one that is yielded.

    machine: the name to file them under, None for the one that they name.

    Raises DeepbenchError, naming the file, wherever `check` does, for a machine that is
    described otherwise here or has other yardsticks or variables, for a release that the table
    lacks or has on another day, and for a damaged file here.
    """
    found: list[CheckedSubmission] = []
    for path, sent in submissions.items():
        try:
            check(sent)
            submission = renamed(sent, machine)
            before = [one for one in found if _machine(one.content) == _machine(submission)]
            one = checked(results, submission, releases, before)
            one = replace(one, sent_as=_machine(sent))
        except NameTaken as wrong:
            raise DeepbenchError(f"{path}: {wrong}: {MEND}") from None
        except DeepbenchError as wrong:
            raise DeepbenchError(f"{path}: {wrong}") from None
        found.append(one.without_times())
        yield path, one


def renamed(submission: Any, machine: str | None) -> Any:
    """Return a checked submission under another name of its machine; as it is for None.

    Its digest stays that of the file. Raises DeepbenchError for a name that no machine may have.
    """
    if machine is None:
        return submission
    described, profile = ({**submission[name], "machine": machine} for name in NAMED)
    found = {**submission, "machine": described, "profile": profile}
    reserved_names.refuse(machine)
    submission_schema.check(found)
    return found


def checked(
    results: Path,
    submission: Any,
    releases: Mapping[str, Release],
    before: Sequence[CheckedSubmission],
) -> CheckedSubmission:
    """Return a submission that can be stored after others of its machine; see `checked_all`.

    Raises DeepbenchError, naming the reason, for one that cannot be stored: NameTaken where another
    name would mend it.
    """
    machine = _machine(submission)
    entry = before[-1].content["machine"] if before else None
    entry = entry or entry_of(results / machine / "machine.json")
    if entry not in (None, submission["machine"]):
        raise NameTaken(f"another machine is called {machine} here")
    found = tuple(_release(result) for result in submission["results"])
    for release, result in zip(found, submission["results"], strict=True):
        if release.measurable and release.hash not in releases:
            raise DeepbenchError(f"{release.name} is not in the release table: add its row first")
        if release.measurable and release.date != releases[release.hash].date:
            raise DeepbenchError(
                f"{release.name} is of {releases[release.hash].date}, not of {release.date}"
            )
        _same_place(release, result, _stored_variables(results / machine, release, before))
    files = {one.file for one in entries(submission)}
    entry_merging.demand_whole(results / machine, sorted(files))
    profile_here = before[-1].profile if before else machine_profile.read(results, machine)
    sent = machine_profile.parse(json.loads(json.dumps(submission["profile"], sort_keys=True)))
    try:
        return CheckedSubmission(submission, found, merged(profile_here, sent))
    except DeepbenchError as wrong:
        raise NameTaken(str(wrong)) from None


def _stored_variables(
    machine: Path, release: Release, before: Sequence[CheckedSubmission]
) -> dict[str, Any]:
    """Return the variables that a release was measured under, by environment."""
    known = map(result_files.read, sorted(machine.glob(f"{release.hash[:8]}-*.json")))
    return {str(each.env_name): each.env_vars for each in known} | {
        result["environment"]: result["variables"]
        for one in before
        for other, result in zip(one.releases, one.content["results"], strict=True)
        if other.hash == release.hash
    }


def _same_place(release: Release, result: dict[str, Any], stored: Mapping[str, Any]) -> None:
    """Raise DeepbenchError where a result cannot be joined with stored ones of its release.

    They have other variables in the same environment, or the same conditions in another one.
    """
    for environment, variables in stored.items():
        if environment == result["environment"] and variables != result["variables"]:
            raise NameTaken(f"{release.name} was measured under other variables here: {variables}")
        alike = _conditions(variables) == _conditions(result["variables"])
        if environment != result["environment"] and alike:
            raise NameTaken(
                f"{release.name} was measured under the same conditions here, in another"
                f" environment: {environment}"
            )


def _conditions(variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(condition.of(variables) for condition in CONDITIONS)


def store(results: Path, one: CheckedSubmission, list_days: ListDays) -> int:
    """Store a checked submission; return the number of results that changed, or their raw seconds.

    All files are prepared first, and replaced together once the days of publication are listed, as
    in `published_result_filing.file`. Its signer is noted before (`submission_provenance.note`).
    The files do not depend on the order of fields in the submission.
    """
    content = json.loads(json.dumps(one.content, sort_keys=True))
    machine = content["machine"]
    entry = results / machine["machine"] / "machine.json"
    signed = SignedVersions.of(entry.parent)
    with atomic_write.together() as ready:
        changed = sum(
            merge(results, result, empty_result(machine, release, result), ready, signed)
            for release, result in zip(one.releases, content["results"], strict=True)
        )
        rounds = content.get("ensembles", {}).values()
        facts = {digest: each for several in rounds for digest, each in several["facts"].items()}
        changed += entry_merging.accept(entry.parent, entries(content), facts, ready, signed)
        if not entry.exists():
            result_files.write_machine(ready(entry), machine)
        if machine_profile.read(results, machine["machine"]) != one.profile:
            machine_profile.write(results, one.profile, ready)
        list_days([release for release in one.releases if not release.measurable])
    return changed


def signed_ids(one: CheckedSubmission) -> list[str]:
    """Return the ids by which a submission's versions of points, runs and rounds are noted as
    signed."""
    machine = one.content["machine"]
    found = [signed_versions.id_of(Path(each.file), each.text) for each in entries(one.content)]
    for release, result in zip(one.releases, one.content["results"], strict=True):
        found += version_ids(result, empty_result(machine, release, result))
    return found


def entries(content: Mapping[str, Any]) -> list[EntryVersion]:
    """Return the rounds of histories and runs of models of a submission."""
    runs = content.get(submission_model_runs.FIELD, ())
    return entry_merging.as_sent(content.get("ensembles", {}), runs)


def _machine(submission: Any) -> str:
    name: str = submission["machine"]["machine"]
    return name


def _release(result: dict[str, Any]) -> Release:
    try:
        day = date.fromisoformat(result["date"])
    except ValueError:
        raise DeepbenchError(f"{result['date']} is no day: write it as YYYY-MM-DD") from None
    release = Release(result["framework"], result["release"], day)
    if not release.measurable and release.version != publication_of(day).version:
        raise DeepbenchError(f"{release.name} was published on another day than {day}")
    return release


def _packed(
    path: Path,
    releases: Mapping[str, Release],
    judge: steadiness.SteadinessJudge,
    unsteady: Counter[str],
    also_unsteady: bool,
    signed: SignedVersions,
) -> dict[str, Any]:
    stored = StoredResult.read(path)
    filed = stored.filed
    if filed.commit_hash not in releases:
        raise DeepbenchError(f"{path}: its release is not in the release table")
    release = releases[filed.commit_hash]
    wrong_times = wrong_published_times.of_machine(path.parent).get(path.name, ())
    device = DEVICE.of(filed.env_vars)
    conflicts = conflict_files.load(conflict_files.file_of(path))
    points: list[Point] = []
    own: list[Record] = []
    others: list[PointVersion] = []
    for key, versions in _versions(stored, conflicts.versions, release.name, signed).items():
        steady = []
        for one in () if key in wrong_times else versions:
            records = [each for each in one.measurements if not measurement_files.is_less(each)]
            reason = judge.reason(records, one.key, one.seconds, device)
            if reason and not also_unsteady:
                unsteady[steadiness.kind(reason)] += 1
            else:
                steady.append(one)
        for one in steady[:1]:
            points.append(one.point)
            own += one.measurements
        others += steady[1:]
    facts = {**conflicts.facts, **stored.facts}
    used = [*own, *(record for one in others for record in one.measurements)]
    conditions = {each["fingerprint"]: facts[each["fingerprint"]] for each in used}
    further = [{"point": one.point, "measurements": list(one.measurements)} for one in others]
    measured = {
        **({"conditions": conditions} if used else {}),
        **({"measurements": own} if own else {}),
        **({submission_records.OTHERS: further} if others else {}),
    }
    return {
        "framework": release.framework,
        "release": release.version,
        "date": release.date.isoformat(),
        "environment": str(filed.env_name),
        "variables": dict(filed.env_vars),
        "libraries": dict(private_result_fields.libraries(filed)),
        "points": points,
        **measured,
    }


def _versions(
    stored: StoredResult, filed: VersionsByKey, release: str, signed: SignedVersions
) -> dict[ResultKey, list[PointVersion]]:
    """Return the versions of each point of a result that were not rejected, the shown one first."""
    found = {
        key: [shown_of(one, filed.get(one.key, ()))]
        for key in stored.points
        if (one := stored.version(key)) is not None
    }
    for conflict in conflict_resolution.of_result(stored, filed, release, signed):
        others = [one for one in conflict.versions if one.id != conflict.shown]
        found.setdefault(key_of(others[0].point), []).extend(others)
    return found


def digest(content: Mapping[str, Any]) -> str:
    """Return the digest of a submission without one. Raises DeepbenchError for NaN in it."""
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise DeepbenchError("a number in it is not finite") from None
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

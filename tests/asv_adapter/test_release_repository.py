"""Releases as asv sees commits: names, ranges, branches, and releases on request."""

import datetime

import pytest
from asv.repo import NoSuchNameError
from asv.util import UserError
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
from deepbench_ops.releases import release_table

ROWS = """framework,version,date,pins,on_request,index
numpy,1.24.4,2023-06-26,,no,
numpy,1.26.4,2024-02-05,,no,
numpy,2.2.6,2025-05-17,,no,
torch,2.0.1,2023-05-08,,yes,
torch,2.8.0,2025-08-06,,no,
torch,2.9.1,2025-11-12,,yes,
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "releases.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.fixture
def repo(path, monkeypatch):
    monkeypatch.delenv("DEEPBENCH_ON_REQUEST", raising=False)
    return ReleaseRepo(str(path), "unused")


def names(repo, hashes):
    return [repo.get_name_from_hash(commit) for commit in hashes]


def test_every_way_to_name_a_release_finds_it(repo):
    """Tag, requirement, hash and a unique beginning of the hash all name the same release."""
    expected = repo.get_tags()["numpy-1.26.4"]
    for name in ("numpy-1.26.4", "numpy==1.26.4", expected, expected[:8], "numpy-2.2.6^"):
        assert expected == repo.get_hash_from_name(name)


def test_a_name_comes_back_from_its_hash(repo):
    """Every tag resolves to a hash whose name is that tag."""
    for name, commit in repo.get_tags().items():
        assert name == repo.get_name_from_hash(commit)
        assert f"{commit[:8]} <{name}>" == repo.get_decorated_hash(commit)
        assert f"{commit[:8]} <{name}>" == repo.get_decorated_hash(name)


def test_of_some_hashes_those_that_can_be_measured_are_taken(path):
    """Published releases and hashes that the table lacks are left out, and the newest is first."""
    path.write_text(f"{ROWS}published,2017.11.16,2017-11-16,,no,\n", encoding="utf-8")
    repo = ReleaseRepo(str(path), "unused")
    asked = [repo.get_tags()[name] for name in ("published-2017.11.16", "torch-2.0.1")]
    asked += [repo.get_tags()["numpy-2.2.6"], "0" * 40]
    assert ["numpy-2.2.6", "torch-2.0.1"] == names(repo, repo.measurable_of(asked))


def test_a_hash_of_no_release_has_no_name(repo):
    """Results of a removed row can still be shown, under their bare hash."""
    assert repo.get_name_from_hash("0" * 40) is None
    assert repo.get_decorated_hash("0" * 40, 8) == "00000000"


@pytest.mark.parametrize("name", ["numpy-1.26.5", "nunpy", "HEAD", "", "0000", None])
def test_an_unknown_name_is_an_error_that_asv_prints(repo, name):
    """A name that no release has raises both errors asv knows, in one line."""
    with pytest.raises(NoSuchNameError) as error:
        repo.get_hash_from_name(name)
    assert isinstance(error.value, UserError)
    assert "\n" not in str(error.value)
    assert "unknown release" in str(error.value)


def test_an_unknown_name_is_answered_with_what_comes_near(repo):
    """The line names the value and the nearest releases."""
    with pytest.raises(UserError, match=r"unknown release 'numpy-1\.26\.5'.*numpy-1\.26\.4"):
        repo.get_name_from_hash("numpy-1.26.5")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("numpy-1.24.4..numpy-2.2.6", ["numpy-2.2.6", "numpy-1.26.4"]),
        ("numpy-1.24.4...numpy-2.2.6", ["numpy-2.2.6", "numpy-1.26.4"]),
        ("numpy-1.26.4..", ["numpy-2.2.6"]),
        ("..numpy-1.26.4", ["numpy-1.26.4", "numpy-1.24.4"]),
        ("numpy-2.2.6..numpy-2.2.6", []),
        ("numpy-2.2.6^!", ["numpy-2.2.6"]),
        ("numpy-2.2.6", ["numpy-2.2.6"]),
        ("numpy-2.2.6^", ["numpy-1.26.4"]),
        ("numpy", ["numpy-2.2.6", "numpy-1.26.4", "numpy-1.24.4"]),
        ("torch", ["torch-2.8.0"]),
        ("torch-2.9.1", ["torch-2.9.1"]),
        ("torch-2.0.1..torch-2.9.1", ["torch-2.9.1", "torch-2.8.0"]),
        ("numpy-1.26.4..numpy", ["numpy-2.2.6"]),
        ("torch-2.0.1 numpy-2.2.6", ["numpy-2.2.6", "torch-2.0.1"]),
    ],
)
def test_ranges(repo, spec, expected):
    """A range leaves out its left end, and has the releases that it names, on request or not."""
    assert expected == names(repo, repo.get_hashes_from_range(spec))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("numpy-2.2.6..numpy-1.24.4", "runs backwards: write 'numpy-1.24.4..numpy-2.2.6'"),
        ("numpy-2.2.6..torch-2.8.0", "runs from numpy to torch"),
        ("numpy-9..numpy-2.2.6", "unknown release 'numpy-9'"),
        ("..", "has no end"),
        ("numpy-1.24.4^", "no release before numpy-1.24.4 is listed"),
    ],
)
def test_a_wrong_range_is_one_line(repo, spec, expected):
    """A range that cannot be meant is refused with its mend."""
    with pytest.raises(UserError) as error:
        repo.get_hashes_from_range(spec)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


@given(st.data())
def test_a_range_and_what_it_leaves_out_make_up_the_branch(data):
    """For all a before b: the releases up to a, those of a..b and those after b are the branch."""
    repo = ReleaseRepo(str(release_table.TABLE), "unused")
    branch = repo.get_branch_commits("torch")
    older, newer = sorted(
        data.draw(st.tuples(*[st.integers(0, len(branch) - 1)] * 2)), reverse=True
    )
    inside = repo.get_hashes_from_range(repo.get_range_spec(branch[older], branch[newer]))
    assert branch == branch[:newer] + inside + branch[older:]


def test_the_tip_of_a_branch_is_the_newest_that_needs_no_asking(repo, monkeypatch):
    """A bare run measures the newest release that is not on request; the variable lifts that."""
    assert repo.get_name_from_hash(repo.get_hash_from_name("torch")) == "torch-2.8.0"
    monkeypatch.setenv("DEEPBENCH_ON_REQUEST", "1")
    assert repo.get_name_from_hash(repo.get_hash_from_name("torch")) == "torch-2.9.1"


def test_a_framework_that_is_all_on_request_says_how_to_ask(tmp_path):
    """Where nothing is measured plainly, the line names a release to ask for."""
    path = tmp_path / "releases.csv"
    path.write_text(ROWS.replace("2025-08-06,,no", "2025-08-06,,yes"), encoding="utf-8")
    with pytest.raises(UserError, match=r"on request only, so name one, such as torch-2\.9\.1"):
        ReleaseRepo(str(path), "unused").get_hash_from_name("torch")


def test_all_and_new_leave_out_what_is_on_request(repo, monkeypatch):
    """ALL is every release that needs no asking; NEW only those after the measured ones."""
    branches = ["numpy", "torch"]
    plain = ["numpy-2.2.6", "numpy-1.26.4", "numpy-1.24.4", "torch-2.8.0"]
    assert plain == names(repo, repo.get_new_branch_commits(branches, []))
    measured = [repo.get_hash_from_name("numpy-1.26.4")]
    new = repo.get_new_branch_commits(branches, measured)
    assert names(repo, new) == ["numpy-2.2.6", "torch-2.8.0"]
    monkeypatch.setenv("DEEPBENCH_ON_REQUEST", "1")
    assert len(repo.get_new_branch_commits(branches, [])) == 6


def test_publishing_sees_every_release(repo):
    """Branches, tags and revisions hold on-request releases too, so measured ones are drawn."""
    everything = set(repo.get_tags().values())
    branches = repo.get_branch_commits("numpy") + repo.get_branch_commits("torch")
    assert everything == set(branches)
    assert everything == set(repo.get_revisions(everything))
    assert repo.get_new_range_spec("torch-2.8.0", "torch").split("..")[1] == "torch-2.9.1"


def test_revisions_run_with_time_along_each_branch(repo):
    """Older releases of a branch have smaller revision numbers."""
    for framework in ("numpy", "torch"):
        branch = repo.get_branch_commits(framework)[::-1]
        revisions = repo.get_revisions(set(branch))
        assert sorted(revisions.values()) == [revisions[commit] for commit in branch]


def test_results_of_a_removed_row_are_named(repo):
    """Publishing results whose row is gone is refused with the two mends."""
    with pytest.raises(UserError, match="00000000, which is no release of the table"):
        repo.get_revisions({"0" * 40})


def test_a_date_is_midnight_utc_in_milliseconds(repo):
    """asv gets the release's day as a JavaScript timestamp."""
    moment = datetime.datetime(2024, 2, 5, tzinfo=datetime.UTC)
    assert int(moment.timestamp() * 1000) == repo.get_date_from_name("numpy-1.26.4")
    assert repo.get_date("numpy-1.26.4") == repo.get_date(repo.get_tags()["numpy-1.26.4"])


def test_adding_an_older_release_leaves_what_was_measured(repo, path):
    """With an older row added, every name still leads to the hash its results are filed under."""
    before = repo.get_tags()
    path.write_text(f"{ROWS}numpy,1.20.0,2021-01-30,,no,\n", encoding="utf-8")
    after = ReleaseRepo(str(path), "unused")
    assert before == {name: after.get_hash_from_name(name) for name in before}
    assert after.get_name_from_hash(after.get_hash_from_name("numpy")) == "numpy-2.2.6"


def test_a_broken_table_is_a_line_that_asv_prints(path):
    """A mistake in the table reaches the user through asv as it stands."""
    path.write_text(f"{ROWS}numpy,2.2.6,2025-05-17,,no,\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"line 8: numpy-2\.2\.6 is already on line 4"):
        ReleaseRepo(str(path), "unused")

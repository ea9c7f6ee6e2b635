"""An import, or a choice between versions, that is killed between any two of its files is completed
by the next one."""

import os
import shutil
from itertools import count
from unittest import mock

from example_submissions import (
    DIGEST,
    FACTS,
    KERNELS,
    NAME,
    RELEASE,
    RELEASES,
    VERSIONS,
    made,
    measured,
    sealed,
    taken,
    values,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deepbench_ops.exchange.submissions import conflict_resolution, submission
from deepbench_ops.storage import atomic_write

FEW, MANY = (0.7, [0.7], {}), (0.5, [0.5, 0.6], {})


class Killed(BaseException):
    """In place of SIGKILL."""


def killed_after(number):
    """Kill the process when it has replaced so many files."""
    replace, left = os.replace, iter(range(1, number + 1))

    def last(*paths):
        replace(*paths)
        if next(left) == number:
            raise Killed

    return mock.patch.object(os, "replace", last)


def sent(versions):
    """A submission of versions of a point."""
    content = made([])
    [result] = content["results"]
    several = [
        {
            "point": {"benchmark": NAME, "params": list(KERNELS[0]), "seconds": seconds}
            | ({"samples": samples} if samples else {}),
            "measurements": [] if more is None else [measured(KERNELS[0], samples) | more],
        }
        for seconds, samples, more in versions
    ]
    result |= {"points": [several[0]["point"]], "measurements": several[0]["measurements"]}
    result |= {"conditions": {DIGEST: FACTS}, "other_versions": several[1:]}
    return sealed(content)


def conflicts(results):
    """The open conflicts of the machine of the examples."""
    return conflict_resolution.of_machine(results / "box", [RELEASE])


def killed_everywhere(before, results, act):
    """Yield copies of a folder, `before`, in which `act` was killed after each replaced file."""
    for number in count(1):
        shutil.copytree(before, results)
        try:
            with killed_after(number):
                act(results)
        except Killed:
            yield results
        else:
            return
        finally:
            shutil.rmtree(results)


ONE = st.sampled_from([each for each in VERSIONS if not (each[2] and "ensemble" in each[2])])
"""Of processes: a value of a history may stay a second time without its raw seconds, as a table
has it, which is not listed."""


@settings(max_examples=40, deadline=None)
@given(earlier=st.lists(ONE, max_size=2), coming=st.lists(ONE, min_size=1, max_size=3))
@example(earlier=[FEW], coming=[MANY])
@example(earlier=[FEW], coming=[MANY, (0.9, [], None)])
def test_the_next_import_completes_a_killed_one(tmp_path_factory, earlier, coming):
    """The files are those of an import that nothing disturbed, and so is a submission of them."""
    folder = tmp_path_factory.mktemp("killed")
    (folder / "before").mkdir()

    def take_in(results):
        taken(results, sent(coming))

    with mock.patch.object(atomic_write, "_flush"):  # most of the time of small files
        for one in earlier:
            taken(folder / "before", sent([one]))
        shutil.copytree(folder / "before", folder / "whole")
        take_in(folder / "whole")
        expected = values(folder / "whole")
        for results in killed_everywhere(folder / "before", folder / "killed", take_in):
            take_in(results)
            assert expected == values(results)
    shutil.rmtree(folder)


def test_no_mixture_of_two_versions_is_listed_or_sent(tmp_path):
    """Whatever file a killed import replaced last; nor is one left by a killed choice."""
    taken(tmp_path / "before", sent([FEW]))
    taken(tmp_path / "whole", sent([FEW]))
    taken(tmp_path / "whole", sent([MANY]))
    [conflict] = conflicts(tmp_path / "whole")
    [few] = [one.id for one in conflict.versions if one.id != conflict.shown]

    def take_in(results):
        taken(results, sent([MANY]))

    for results in killed_everywhere(tmp_path / "before", tmp_path / "killed", take_in):
        for found in conflicts(results):
            assert conflict.versions == found.versions
        packed = submission.pack(results, "box", RELEASES, also_unsteady=True)
        seconds = {each["seconds"][0] for each in packed["results"][0]["measurements"]}
        assert {packed["results"][0]["points"][0]["samples"][0]} == seconds

    def choose(results):
        conflict_resolution.resolve(conflicts(results), [few])

    shutil.copytree(tmp_path / "whole", tmp_path / "chosen")
    choose(tmp_path / "chosen")
    for results in killed_everywhere(tmp_path / "whole", tmp_path / "killed", choose):
        taken(results, sent([MANY]))
        assert values(tmp_path / "chosen") == values(results)

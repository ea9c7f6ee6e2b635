"""Notes of who signed the submissions of a machine."""

from itertools import permutations

from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.exchange.submissions.submission_signature import Signer

SIGNERS = (None, Signer(None, "SHA256:c"), Signer("alice@a.org", "SHA256:a"))
OF_TWO_NAMES = (*SIGNERS, Signer("bob@b.org", "SHA256:b"))


def noted(folder, signers):
    """The note of one submission that came with each of these signatures, one after the other."""
    for signer in signers:
        submission_provenance.note(folder, "sha256:1", signer, ["numpy-2.4.6"], ["v1"])
    return submission_provenance.read(folder)


def test_the_note_is_that_of_the_best_signature_in_any_order(tmp_path):
    """That of an allowed signer, of two that of both."""
    for signers, expected in (
        (SIGNERS, ["alice@a.org"]),
        (OF_TWO_NAMES, ["alice@a.org", "bob@b.org"]),
    ):
        for number, order in enumerate(permutations(signers)):
            found = noted(tmp_path / f"{len(signers)}-{number}", order)
            assert expected == [each.signer for each in found]
            assert {("v1",)} == {each.versions for each in found}

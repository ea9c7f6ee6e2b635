"""Signatures of submissions by SSH keys, which most people who send one have.

`ssh-keygen -Y` makes and checks them. A signature lies next to its file, named after it with
`.sig`. Who may sign is a file in the form of OpenSSH's ALLOWED SIGNERS (see ssh-keygen(1)): a name,
such as an e-mail address, and a public key in a line.
"""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write, bounded_read

NAMESPACE = "deepbench-submission"
"""A signature made for anything else, such as a commit, is not one of a submission."""

SECONDS = 60
"""Longest time of one call of ssh-keygen."""

KEY = re.compile(r"SHA256:[A-Za-z0-9+/]+")


class Signer(NamedTuple):
    """Signer of a submission: a name among the allowed signers, None for none of them; and the
    fingerprint of the key."""

    name: str | None
    key: str

    def __str__(self) -> str:
        return f"signed by {self.name or f'the unknown key {self.key}'}"


def path_of(submission: Path) -> Path:
    """Return the file of a submission's signature."""
    return submission.with_name(f"{submission.name}.sig")


def sign(submission: Path, key: Path) -> Path:
    """Sign a file by a private key, or by the agent's where `key` is a public one.

    Return the signature's file. Raises DeepbenchError with ssh-keygen's reason.
    """
    command = ["-Y", "sign", "-f", str(key), "-n", NAMESPACE]
    done = _run(command, submission, submission.read_bytes(), terminal=True)
    if done.returncode:
        raise DeepbenchError(f"{submission} could not be signed by {key}: {_reason(done)}")
    atomic_write.write_text(path_of(submission), done.stdout)
    return path_of(submission)


def verify(submission: Path, content: bytes, allowed: Path | None) -> Signer | None:
    """Return who signed the content of a file; None where no signature lies next to it.

    content: as it was read; the file itself may change. allowed: the file of allowed signers, if
    there is one. Raises DeepbenchError for a signature
    that is not of this file, or of an allowed key that may not sign submissions.
    """
    signature = path_of(submission)
    if not signature.exists():
        return None
    bounded_read.demand_smaller(signature, bounded_read.SMALL)
    given = ["-n", NAMESPACE, "-s", str(signature)]
    checked = _run(["-Y", "check-novalidate", *given], submission, content)
    found = KEY.search(checked.stdout)
    if checked.returncode or found is None:
        raise DeepbenchError(
            f"{signature} is no signature of {submission}: {_reason(checked)}: ask for both again"
        )
    if allowed is None:
        return Signer(None, found.group())
    by = ["-f", str(allowed)]
    names = _run(["-Y", "find-principals", "-s", str(signature), *by], submission, content)
    if names.returncode or not (listed := names.stdout.splitlines()):
        return Signer(None, found.group())
    for name in listed:
        valid = _run(["-Y", "verify", "-I", name, *by, *given], submission, content)
        if not valid.returncode:
            return Signer(name, found.group())
    raise DeepbenchError(f"{signature}: the key of {listed[-1]} is refused: {_reason(valid)}")


def _run(
    arguments: list[str], submission: Path, content: bytes, terminal: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run ssh-keygen on a file's content as its standard input; where it may ask for a passphrase,
    it does so on the terminal."""
    try:
        done = subprocess.run(
            ["ssh-keygen", *arguments],
            input=content,
            capture_output=True,
            check=False,
            timeout=None if terminal else SECONDS,
        )
    except FileNotFoundError:
        raise DeepbenchError(
            "signatures need ssh-keygen, which is not installed: it comes with OpenSSH"
        ) from None
    except subprocess.TimeoutExpired:
        raise DeepbenchError(
            f"{submission}: ssh-keygen did not end within {SECONDS} s: try again"
        ) from None
    said = (each.decode("utf-8", errors="replace") for each in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, *said)


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return lines[-1] if lines else f"ssh-keygen ended with {done.returncode}"

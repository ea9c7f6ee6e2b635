"""Lines that libraries write to standard error past Python, held back by their beginning."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

STDERR = 2


@contextmanager
def hidden_lines(beginning: bytes) -> Iterator[None]:
    """Hold back standard error during the block, then print the lines without this beginning."""
    sys.stderr.flush()
    kept = os.dup(STDERR)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), STDERR)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, STDERR)
            os.close(kept)
            held.seek(0)
            for line in held:
                if not line.startswith(beginning):
                    os.write(STDERR, line)

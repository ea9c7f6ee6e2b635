"""Job specifications of Flux that write their content into their working folder."""

import json
from pathlib import Path
from typing import Any

RECORD = "flux_jobspec.json"


class FluxExecutor:
    """Submits nothing."""


class JobspecV1:
    """The arguments of `from_command`, and the fields that were set later."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = asked

    @classmethod
    def from_command(cls, command: list[str], **asked: Any) -> "JobspecV1":
        """Return a specification; Flux has these parameters as well."""
        return cls({"command": command, **asked})

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if "cwd" in vars(self):
            found = {**self.asked, **{k: v for k, v in vars(self).items() if k != "environment"}}
            Path(self.cwd, RECORD).write_text(json.dumps(found))

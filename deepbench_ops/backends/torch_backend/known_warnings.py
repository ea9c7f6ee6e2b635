"""Suppression of warnings that torch's tools print about each other and users cannot avoid.

Each warning is listed by text and origin, so all others are still printed.
"""

import logging
import warnings

WARNED = (
    # torch.compile on constants of its own int8 products.
    (UserWarning, "To copy construct from a tensor, it is recommended", r"torch\._inductor\."),
    # The copy of an exported program.
    (FutureWarning, r"`isinstance\(treespec, LeafSpec\)` is deprecated", r"copyreg"),
)
"""Category, text and module of each warning."""

LOGGED = {
    # torchao registers its own enumerations in a way that torch no longer needs.
    "torch.utils._pytree": "is an Enum subclass and is now natively supported",
    # torchao tries to load its kernels for GPUs on every machine.
    "torchao": "Failed to load",
    "torchao.kernel.intmm": "Detected no triton",
    # None of the networks has an operation of torchvision.
    "torch.onnx._internal.exporter._registration": "torchvision is not installed",
}
"""Parts of log messages, by logger."""


def silence() -> None:
    """Suppress these warnings for the rest of the process."""
    for category, text, module in WARNED:
        warnings.filterwarnings("ignore", text, category, module)
    for name, text in LOGGED.items():
        logger = logging.getLogger(name)
        if not any(isinstance(each, _Without) for each in logger.filters):
            logger.addFilter(_Without(text))


class _Without(logging.Filter):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def filter(self, record: logging.LogRecord) -> bool:
        return self.text not in record.getMessage()

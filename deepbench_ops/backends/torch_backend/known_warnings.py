"""Warnings that torch's tools print about each other, which a user can do nothing about.

Each is named by its text and origin, so that any other is still printed.
"""

import logging
import warnings

WARNED = (
    # Of the lowering of products in int8, of its own constants.
    (UserWarning, "To copy construct from a tensor, it is recommended", r"torch\._inductor\."),
    # Of copying the exported program's trees.
    (FutureWarning, r"`isinstance\(treespec, LeafSpec\)` is deprecated", r"copyreg"),
)
LOGGED = {
    # torchao registers its own enumerations in a way that torch no longer needs.
    "torch.utils._pytree": "is an Enum subclass and is now natively supported",
    # None of our networks has an operation of torchvision.
    "torch.onnx._internal.exporter._registration": "torchvision is not installed",
}


def silence() -> None:
    """Print none of them from now on."""
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

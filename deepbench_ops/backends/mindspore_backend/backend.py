"""MindSpore on the CPU: one module per family of kernels, in eager mode, its default."""

import os

# MindSpore reads its log level when it is imported; its warnings would print whole tensors.
os.environ.setdefault("GLOG_v", "4")

from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice


class MindSporeBackend(MindSporeDevice):
    """All kernels of MindSpore."""

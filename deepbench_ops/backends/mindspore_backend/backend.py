"""MindSpore on the CPU: one module per family of kernels, run eagerly as is its default."""

import os

# MindSpore reads its level of logging when it is imported; its warnings print whole tensors.
os.environ.setdefault("GLOG_v", "4")

from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice


class MindSporeBackend(MindSporeDevice):
    """All kernels of MindSpore."""

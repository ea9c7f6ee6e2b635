"""NCCL of `torch.distributed`, between GPUs of NVIDIA or AMD."""

from deepbench_ops.distributed.transports import Declaration

TRANSPORT = Declaration(
    position=20,
    library="torch",
    module="deepbench_ops.distributed.torch_distributed_messages",
    kind="NcclTransport",
    launchers=("torchrun", "Slurm"),
    may_be_alone=True,
    uses_device=True,
    algorithms={name: {"NCCL_ALGO": name} for name in ("ring", "tree")},
)

"""gloo of `torch.distributed`, between vectors in main memory."""

from deepbench_ops.distributed.transports import Declaration

TRANSPORT = Declaration(
    position=10,
    library="torch",
    module="deepbench_ops.distributed.torch_distributed_messages",
    kind="GlooTransport",
    launchers=("torchrun", "Slurm"),
    copies=1,
)

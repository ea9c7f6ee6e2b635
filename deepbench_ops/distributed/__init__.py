"""Operations spread over processes: ranks that connect, exchange vectors and are timed.

Ranks can start in two ways. On one machine a `RankGroup` (`one_machine/`) starts them, supervises
them and gives them orders. Under torchrun or mpirun (`launchers/`) they already exist, and rank 0
leads the others (`python -m deepbench_ops.distributed`). In both ways each rank is a `RankMember`
with a `Transport`.

Measured environments import this package: it needs only the standard library, numpy and the
library that carries the messages.
"""

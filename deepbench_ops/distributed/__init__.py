"""Operations spread over processes: ranks that connect, exchange vectors and are timed.

Two ways lead to the same ranks. On one machine a `RankGroup` starts them, supervises them and gives
them orders; under torchrun or mpirun they exist already, and rank 0 leads the others
(`python -m deepbench_ops.distributed`). Either way each rank is a `RankMember` over a `Transport`.

Imported where things are measured: standard library, numpy and whatever carries the messages.
"""

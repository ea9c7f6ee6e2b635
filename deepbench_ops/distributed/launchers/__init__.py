"""Ranks that srun, torchrun or mpirun starts, on one machine or on several nodes."""

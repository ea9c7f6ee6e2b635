"""Training spread over processes: how much faster two devices are than one.

A rank is a device: a GPU, or an equal share of the processors. `launch` starts the ranks of one
machine, torchrun those of several; `__main__` is the program of each.
"""

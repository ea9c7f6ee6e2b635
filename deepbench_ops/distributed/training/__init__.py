"""Training spread over processes: how much faster two devices are than one.

A rank is a device: a GPU, or an equal share of the processors. `launch` starts the ranks with
torchrun, `__main__` is what each of them runs, on several machines too.
"""

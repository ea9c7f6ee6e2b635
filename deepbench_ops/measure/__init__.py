"""Measuring: timing of kernels, the yardstick, live workers, and the record of conditions.

`kernel_sampling` times one kernel in short slices that alternate with a `yardstick`, a fixed
workload that no framework release can change; `ensemble_sweeps` times many releases in live worker
processes; `fingerprint` and `record_handover` write down the conditions and the raw readings.
"""

"""Honest seconds: what is timed, against what it is held, and under which conditions.

`sampling` times one kernel in short slices that alternate with a `yardstick`, a fixed workload
no framework release can change; `pairs` times two releases against each other in live worker
processes; `fingerprint` and `record_spool` write down the conditions and the raw readings.
"""

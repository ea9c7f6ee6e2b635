"""Calibration of seconds by the readings of a yardstick."""


def on_quiet_machine(seconds: float, reading: float, nominal: float) -> float:
    """Return calibrated seconds: an estimate of the time on the quiet machine.

    reading: the yardstick's seconds per unit at the same moment. nominal: those on the quiet
    machine.
    """
    return nominal * (seconds / reading)

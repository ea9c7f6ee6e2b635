"""Facts of a measurement on a device other than the processor, for its record."""

from deepbench_ops.measure import gpu_readings
from deepbench_ops.measure.kernel_sampling import Measurement, Timed, launch_share
from deepbench_ops.measure.record_handover import rounded
from deepbench_ops.run_conditions import DEVICE

LAUNCH_BOUND = 0.9
"""A kernel whose calls take the host so much of their time is bound by the launches."""


def of(kernel: Timed, measurement: Measurement, device: str) -> dict[str, str]:
    """Return how calls were launched, and the limits of the device's clock that held meanwhile.

    {} for the processor, and for a kernel with a clock of its own. The kernel runs some more times.
    """
    if device == DEVICE.usual or kernel.clock is not None:
        return {}
    share = launch_share(kernel, measurement.number)
    bound = "launch-bound" if share >= LAUNCH_BOUND else "not launch-bound"
    found = {
        "launches": f"{measurement.number} calls a slice, one wait at its end, no CUDA graph;"
        f" the host launches for {share:.0%} of the time: {bound}"
    }
    limits = gpu_readings.limited(measurement.device_readings)
    return found | ({"clock_limits": ", ".join(limits)} if limits else {})


def readings(measurement: Measurement) -> dict[str, dict[str, list[float]]]:
    """Return the device's readings after each sample, by name, for the record; {} for nothing."""
    each = measurement.device_readings
    names = [name for name in (each[0] if each else {}) if all(name in one for one in each)]
    columns = {name: [rounded(one[name]) for one in each] for name in names}
    return {"device_readings": columns} if columns else {}

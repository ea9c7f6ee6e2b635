#!/bin/sh
# All that is to be tried on a machine with a GPU, in steps that go on where they were stopped.
# usage: scripts/gpu_check.sh [--list] [--only STEP] [--framework torch] [--device cuda] ...
# The interpreter that holds the framework is python3, or that of PYTHON. docs/how-to/gpu.md has more.
exec "${PYTHON:-python3}" "$(dirname "$0")/gpu_check.py" "$@"

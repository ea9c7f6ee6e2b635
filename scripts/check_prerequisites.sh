#!/bin/sh
# Say in one line what this machine lacks, before anything is installed. Usage: check_prerequisites.sh PYTHON
python=$1

missing() {
    echo "deepbench: $1" >&2
    exit 1
}

command -v git >/dev/null 2>&1 || missing "git is missing: install it (Debian: apt install git)"
"$python" -c '' 2>/dev/null ||
    missing "no Python at '$python': install Python 3.11, or run make PYTHON=/path/to/python3.11"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    missing "$("$python" --version) is too old: run make PYTHON=/path/to/python3.11"
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    missing "this Python cannot make environments: install its venv module (Debian: apt install python3-venv)"

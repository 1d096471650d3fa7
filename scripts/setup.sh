#!/bin/sh
# Makes the virtual environment from the lock: by uv where it is installed, else by venv and pip.
# usage: setup.sh VENV LOCK
set -eu
venv=$1
lock=$2

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; }

find_python() {
	tried=
	for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python; do
		command -v "$name" >/dev/null 2>&1 || continue
		if fits "$name"; then
			echo "$name"
			return
		fi
		found=$("$name" -c 'import platform; print(platform.python_version())' 2>/dev/null) || continue
		tried="$tried $name is $found;"
	done
	echo "wiretape needs Python 3.12 or newer, and found:${tried:- none at all;} install a newer one or name it with PYTHON=…" >&2
	exit 2
}

rm -rf "$venv"
if command -v uv >/dev/null 2>&1; then
	uv venv --quiet "$venv"
	uv pip install --quiet --python "$venv/bin/python" --require-hashes -r "$lock"
	uv pip install --quiet --python "$venv/bin/python" --no-build-isolation --no-deps -e .
else
	python=$(find_python)
	"$python" -m venv "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
fi

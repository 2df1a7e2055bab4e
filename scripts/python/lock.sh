#!/usr/bin/env bash
# Resolves requirements.in anew and writes requirements.txt: every package with
# its version, those that others need included.
#
#   scripts/python/lock.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work"
"$work/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.in"
{
	echo "# Written by scripts/python/lock.sh from requirements.in."
	"$work/bin/python" -m pip --disable-pip-version-check freeze --all --exclude pip
} >"$here/requirements.txt"

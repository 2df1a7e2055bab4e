#!/usr/bin/env bash
# Makes the virtual environment with what the tests run from PyPI, once for each
# content of requirements.txt and each Python, and prints its folder: programs
# are in bin/.
#
#   scripts/python/venv.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
python=$(python3 -c 'import sys; print(sys.base_prefix, sys.version)')
once python "$here"/{requirements.txt,venv.sh} <(echo "$python"; uname -sm)

printf 'python: installing the packages of scripts/python (once)\n' >&2
python3 -m venv "$work"
# requirements.txt is the whole list, by hash: a file of other content is an error,
# and so is a package that it lacks.
"$work/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$here/requirements.txt" >&2
"$work/bin/python" -m pip --disable-pip-version-check check >"$work/check" || { cat "$work/check" >&2; exit 1; }

# The programs name their interpreter by its full path: the one it will have.
while read -r program; do
	sed "s|$work|$out|g" "$program" >"$work/moved"
	cat "$work/moved" >"$program" # keeps the mode
done < <(grep -rlI "$work" "$work/bin")
rm -f "$work/moved" "$work/check"

done_once

#!/usr/bin/env bash
# Makes the virtual environment with what the tests run from PyPI, once for each
# content of requirements.txt and each Python, and prints its folder: programs
# are in bin/.
#
#   scripts/python/venv.sh
#
# The folder lies below .cache/python and is complete or absent.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$here/../../.cache/python"
cache=$(cd "$here/../../.cache/python" && pwd -P)
python=$(python3 -c 'import sys; print(sys.base_prefix, sys.version)')
key=$(cat "$here"/{requirements.txt,venv.sh} <(echo "$python"; uname -sm) | sha256sum | cut -c1-16)
out=$cache/$key

if [ -d "$out" ]; then
	touch -c "$out" 2>/dev/null || true # in use, so it stays
	echo "$out"
	exit 0
fi

work=$(mktemp -d "$cache/installing.XXXXXX")
trap 'rm -rf "$work"' EXIT

printf 'python: installing the packages of scripts/python (once)\n' >&2
python3 -m venv "$work"
# requirements.txt is the whole list: a package that it lacks is an error, not
# whatever version is the newest today.
"$work/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt" >&2
"$work/bin/python" -m pip --disable-pip-version-check check >"$work/check" || { cat "$work/check" >&2; exit 1; }

# The programs name their interpreter by its full path: the one it will have.
while read -r program; do
	sed "s|$work|$out|g" "$program" >"$work/moved"
	cat "$work/moved" >"$program" # keeps the mode
done < <(grep -rlI "$work" "$work/bin")
rm -f "$work/moved" "$work/check"

# A rename is what makes the folder exist; of two that raced, the first stays.
chmod 755 "$work"
mv -T "$work" "$out" 2>/dev/null || [ -d "$out" ]
# Another branch may run on another list: what was used of late stays.
find "$cache" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
echo "$out"

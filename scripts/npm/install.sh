#!/usr/bin/env bash
# Installs what the tests run from npm, once for each content of the lock file,
# and prints the folder whose node_modules holds it.
#
#   scripts/npm/install.sh
#
# The folder lies below .cache/npm and is complete or absent. To add or update a
# package, change package.json, run npm install --package-lock-only here and
# read what changed: the lock file names no registry, so that each machine uses
# its own.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$here/../../.cache/npm"
cache=$(cd "$here/../../.cache/npm" && pwd -P)
key=$(cat "$here"/{package.json,package-lock.json,.npmrc,install.sh} <(uname -sm) | sha256sum | cut -c1-16)
out=$cache/$key

if [ -d "$out" ]; then
	touch -c "$out" 2>/dev/null || true # in use, so it stays
	echo "$out"
	exit 0
fi

work=$(mktemp -d "$cache/installing.XXXXXX")
trap 'rm -rf "$work"' EXIT

printf 'npm: installing the packages of scripts/npm (once)\n' >&2
cp "$here"/{package.json,package-lock.json,.npmrc} "$work"
(cd "$work" && npm ci --loglevel=error >&2)

# A rename is what makes the folder exist; of two that raced, the first stays.
chmod 755 "$work"
mv -T "$work" "$out" 2>/dev/null || [ -d "$out" ]
# Another branch may run on another lock file: what was used of late stays.
find "$cache" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
echo "$out"

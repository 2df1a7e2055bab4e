#!/usr/bin/env bash
# Resolves requirements.in anew and writes requirements.txt: every package with
# its version and the hashes of its files, those that others need included. It
# names no host, so that pip asks the one that is configured.
#
#   scripts/python/lock.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work"
"$work/bin/python" -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
{
	echo "# Written by scripts/python/lock.sh from requirements.in."
	"$work/bin/pip-compile" --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
		--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file - "$here/requirements.in"
} >"$work/requirements.txt"
mv "$work/requirements.txt" "$here/requirements.txt"

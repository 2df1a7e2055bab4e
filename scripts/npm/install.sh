#!/usr/bin/env bash
# Installs what the tests run from npm, once for each content of the lock file,
# and prints the folder whose node_modules holds it.
#
#   scripts/npm/install.sh
#
# To add or update a package, change package.json, run npm install
# --package-lock-only here and read what changed: the lock file names no registry,
# so that each machine uses its own.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once npm "$here"/{package.json,package-lock.json,.npmrc,install.sh} <(uname -sm)

printf 'npm: installing the packages of scripts/npm (once)\n' >&2
cp "$here"/{package.json,package-lock.json,.npmrc} "$work"
(cd "$work" && npm ci --loglevel=error >&2)

done_once

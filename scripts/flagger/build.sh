#!/usr/bin/env bash
# Builds Flagger from Go modules, once for each content of go.mod, go.sum and this
# file, and prints the folder that holds it and the definitions of its resources.
#
#   scripts/flagger/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once flagger "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
module=github.com/fluxcd/flagger
printf 'flagger: building (once; the first takes two minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/flagger" "$module/cmd/flagger"
cp "$(go list -m -f '{{.Dir}}' "$module")/artifacts/flagger/crd.yaml" "$work/crd.yaml"
chmod 644 "$work/crd.yaml" # files of the module cache are read-only

done_once

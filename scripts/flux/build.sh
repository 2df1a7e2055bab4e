#!/usr/bin/env bash
# Builds Flux's kustomize-controller from Go modules, once for each content of this folder,
# and prints the folder that holds it and the definition of its resource.
#
#   scripts/flux/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once flux "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
module=github.com/fluxcd/kustomize-controller
printf 'flux: building kustomize-controller (once; the first takes some minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/kustomize-controller" "$module"
cp "$(go list -m -f '{{.Dir}}' "$module")/config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml" "$work/kustomizations.yaml"
chmod 644 "$work/kustomizations.yaml" # files of the module cache are read-only

done_once

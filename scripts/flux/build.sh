#!/usr/bin/env bash
# Builds Flux's kustomize-controller from Go modules, once for each content of
# go.mod, go.sum and this file, and prints the folder that holds it and the
# definition of its resource.
#
#   scripts/flux/build.sh
#
# The folder lies below .cache/flux and is complete or absent: a build that was
# stopped half-way leaves nothing that the tests would take for one.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$(cd "$here/../.." && pwd)/.cache/flux
key=$(cat "$here/go.mod" "$here/go.sum" "$here/build.sh" <(go env GOVERSION GOOS GOARCH) | sha256sum | cut -c1-16)
out=$cache/$key

if [ -d "$out" ]; then
	echo "$out"
	exit 0
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/building.XXXXXX")
trap 'rm -rf "$work"' EXIT

cd "$here"
module=github.com/fluxcd/kustomize-controller
printf 'flux: building kustomize-controller (once; the first takes some minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/kustomize-controller" "$module"
cp "$(go list -m -f '{{.Dir}}' "$module")/config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml" "$work/kustomizations.yaml"
chmod 644 "$work/kustomizations.yaml" # files of the module cache are read-only

# A rename is what makes the build exist; of two that raced, the first stays.
chmod 755 "$work"
mv -T "$work" "$out" 2>/dev/null || [ -d "$out" ]
find "$cache" -mindepth 1 -maxdepth 1 ! -name "$key" ! -name 'building.*' -exec rm -rf {} +
trap - EXIT
rm -rf "$work"
echo "$out"

#!/usr/bin/env bash
# Builds Flux's kustomize-controller and CLI from Go modules, once for each content of this
# folder, and prints the folder that holds them and the definition of the controller's
# resource.
#
#   scripts/flux/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once flux "$here"/{go.mod,go.sum,cli/go.mod,cli/go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
module=github.com/fluxcd/kustomize-controller
printf 'flux: building kustomize-controller and the CLI (once; the first takes some minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/kustomize-controller" "$module"
cp "$(go list -m -f '{{.Dir}}' "$module")/config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml" "$work/kustomizations.yaml"
chmod 644 "$work/kustomizations.yaml" # files of the module cache are read-only

# The CLI embeds the manifests that "flux install" applies. Its module does not contain
# them, so an empty file takes their place.
cd "$here/cli"
cli=github.com/fluxcd/flux2/v2
go mod download "$cli" # go list prints no folder for a module that is not downloaded
cp -r "$(go list -m -f '{{.Dir}}' "$cli")" "$work/source"
chmod -R u+w "$work/source"
mkdir "$work/source/cmd/flux/manifests"
touch "$work/source/cmd/flux/manifests/none.yaml"
cp go.mod "$work/source.mod"
cp go.sum "$work/source.sum"
go mod edit -replace="$cli=$work/source" "$work/source.mod"
CGO_ENABLED=0 go build -modfile="$work/source.mod" -trimpath -ldflags "-s -w" -o "$work/flux" "$cli/cmd/flux"
rm -rf "$work"/source{,.mod,.sum}

done_once

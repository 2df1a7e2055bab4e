#!/usr/bin/env bash
# Builds KEDA's operator and its metrics adapter from Go modules, once for each content
# of go.mod, go.sum and this file, and prints the folder that contains them, KEDA's
# version and the definitions of its resources.
#
#   scripts/keda/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once keda "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
module=github.com/kedacore/keda/v2
go mod download "$module" # go list prints no folder for a module that is not downloaded
read -r dir version < <(go list -m -f '{{.Dir}} {{.Version}}' "$module")
printf 'keda: building the operator and the metrics adapter (once; the first build takes some minutes)\n' >&2
# The names are those of KEDA's images. The API server records them as field managers.
for program in operator=keda adapter=keda-adapter; do
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X $module/version.Version=${version#v}" -o "$work/${program#*=}" "$module/cmd/${program%=*}"
done
for definition in "$dir"/config/crd/bases/*.yaml; do
	cat "$definition"
done >"$work/crds.yaml"
printf '%s\n' "$version" >"$work/version"

done_once

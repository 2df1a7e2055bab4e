#!/usr/bin/env bash
# Builds Kyverno's admission controller from Go modules, once for each content of go.mod,
# go.sum and this file, and prints the folder that contains it, Kyverno's version and the
# manifests that install Kyverno.
#
#   scripts/kyverno/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once kyverno "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
module=github.com/kyverno/kyverno
go mod download "$module" # go list prints no folder for a module that is not downloaded
read -r dir version < <(go list -m -f '{{.Dir}} {{.Version}}' "$module")
printf 'kyverno: building the admission controller (once; the first build takes some minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X $module/pkg/version.BuildVersion=$version" -o "$work/kyverno" "$module/cmd/kyverno"
cp "$dir/config/install-latest-testing.yaml" "$work/install.yaml"
printf '%s\n' "$version" >"$work/version"

done_once

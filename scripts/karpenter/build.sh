#!/usr/bin/env bash
# Builds the program that places fleets with Karpenter's scheduler, once for each content
# of this folder, and prints the folder that contains it, and Karpenter's version.
#
#   scripts/karpenter/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once karpenter "$here"/{go.mod,go.sum,build.sh,*.go} <(go env GOVERSION GOOS GOARCH)

cd "$here"
printf 'karpenter: building its scheduler (once; the first build takes some minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/karpenter" .
go list -m -f '{{.Version}}' sigs.k8s.io/karpenter >"$work/version"

done_once

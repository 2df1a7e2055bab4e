#!/usr/bin/env bash
# Builds the controller of Argo Rollouts from Go modules, once for each content of
# go.mod, go.sum and this file, and prints the folder that holds it, its version
# and the definitions of its resources.
#
#   scripts/argo/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once argo "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
module=github.com/argoproj/argo-rollouts
printf 'argo: building the controller of Argo Rollouts (once; the first takes some minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/rollouts-controller" "$module/cmd/rollouts-controller"
read -r dir version < <(go list -m -f '{{.Dir}} {{.Version}}' "$module")
for kind in rollout analysis-run analysis-template cluster-analysis-template experiment; do
	printf -- '---\n'
	cat "$dir/manifests/crds/$kind-crd.yaml"
done >"$work/crds.yaml"
printf '%s\n' "$version" >"$work/version"

done_once

#!/usr/bin/env bash
# Builds Helm 4, Helm 3, and Flux's helm-controller and source-controller from Go modules,
# once for each content of this folder, and prints the folder that contains them and the
# definitions of Flux's resources.
#
#   scripts/helm/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once helm "$here"/{go.mod,go.sum,controllers/go.mod,controllers/go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
# Each Helm has a folder of its own, because Argo CD runs the first "helm" of its PATH.
# Charts read the version as .Capabilities.HelmVersion.
for major in 4 3; do
	module=helm.sh/helm/v$major
	version=$(go list -m -f '{{.Version}}' "$module")
	mkdir "$work/helm$major"
	printf 'helm: building Helm %s (once; the first takes some minutes)\n' "$version" >&2
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X $module/internal/version.version=$version" -o "$work/helm$major/helm" "$module/cmd/helm"
done

cd controllers
for name in source-controller helm-controller; do
	module=github.com/fluxcd/$name
	printf 'helm: building %s (once; the first takes some minutes)\n' "$name" >&2
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/$name" "$module"
	for definition in "$(go list -m -f '{{.Dir}}' "$module")"/config/crd/bases/*.yaml; do
		cat "$definition"
	done
done >"$work/crds.yaml"

done_once

#!/usr/bin/env bash
# Builds the control plane of the tests from Go modules, once for each content
# of go.mod, go.sum and this file, and prints the folder that contains it.
#
#   scripts/controlplane/build.sh         the version in go.mod
#   scripts/controlplane/build.sh 1.35    the version in versions/1.35/go.mod,
#                                         with the etcd and the kwok of go.mod
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
module=$here${1:+/versions/$1}
[ "$module" = "$here" ] || newest=$("$here/build.sh")
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once controlplane "$module"/{go.mod,go.sum} "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$module"
kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${kubernetes#v}"
version=k8s.io/component-base/version
ldflags="-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=$major -X $version.gitMinor=$minor"

# build NAME PACKAGE
build() {
	printf 'control plane: building %s of Kubernetes %s (once; the first takes some minutes)\n' "$1" "$kubernetes" >&2
	CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$work/$1" "$2"
}

for name in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
	build "$name" "k8s.io/kubernetes/cmd/$name"
done
if [ "$module" != "$here" ]; then
	ln "$newest"/{etcd,kwok,stages.yaml} "$work"
	done_once
	exit
fi
build etcd go.etcd.io/etcd/server/v3
build kwok sigs.k8s.io/kwok/cmd/kwok

# kwok without its stages plays no pod: they are YAML files of its module.
stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
for file in "$stages"/node/fast/*.yaml "$stages"/node/heartbeat-with-lease/*.yaml "$stages"/pod/fast/*.yaml; do
	case $file in */kustomization.yaml) continue ;; esac
	printf -- '---\n'
	cat "$file"
	printf '\n'
done >"$work/stages.yaml"

done_once

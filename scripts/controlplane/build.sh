#!/usr/bin/env bash
# Builds the control plane of the tests from Go modules, once for each content
# of go.mod, go.sum and this file, and prints the folder that contains it.
#
#   scripts/controlplane/build.sh         the version in go.mod
#   scripts/controlplane/build.sh 1.35    the version in versions/1.35/go.mod,
#                                         with the etcd and the kwok of go.mod
#
# If KUBEBUILDER_ASSETS names a folder, as setup-envtest prints it, its kube-apiserver, etcd
# and kubectl are used, and only the other programs are built, in the same version.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=${1:-}
assets=${KUBEBUILDER_ASSETS:-}
if [ -n "$assets" ] && [ -z "$version" ]; then
	found=$("$assets/kube-apiserver" --version) # such as Kubernetes v1.36.3
	version=$(sed -E 's/.*v([0-9]+\.[0-9]+).*/\1/' <<<"$found")
	if grep -q "k8s.io/kubernetes v$version\." "$here/go.mod"; then
		version=
	elif ! [ -d "$here/versions/$version" ]; then
		newest=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' "$here/go.mod")
		echo "control plane: KUBEBUILDER_ASSETS has $found, and the tests run on $(ls "$here/versions" | paste -sd' ') and $newest" >&2
		exit 1
	fi
fi
module=$here${version:+/versions/$version}
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once controlplane "$module"/{go.mod,go.sum} "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH) <(echo "$assets ${found:-}")

cd "$module"
kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${kubernetes#v}"
variables=k8s.io/component-base/version
ldflags="-s -w -X $variables.gitVersion=$kubernetes -X $variables.gitMajor=$major -X $variables.gitMinor=$minor"

# build NAME PACKAGE
build() {
	if [ -x "$assets/$1" ]; then
		cp "$assets/$1" "$work/$1"
		return
	fi
	printf 'control plane: building %s of Kubernetes %s (once; the first takes some minutes)\n' "$1" "$kubernetes" >&2
	CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$work/$1" "$2"
}

for name in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
	build "$name" "k8s.io/kubernetes/cmd/$name"
done
cd "$here"
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

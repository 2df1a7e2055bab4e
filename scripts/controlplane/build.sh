#!/usr/bin/env bash
# Builds the control plane of the tests from Go modules, once for each content
# of go.mod, go.sum and this file, and prints the folder that holds it.
#
#   scripts/controlplane/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once controlplane "$here"/{go.mod,go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${kubernetes#v}"
version=k8s.io/component-base/version
ldflags="-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=$major -X $version.gitMinor=$minor"

# One name of a binary a line, and the package that it is.
while read -r name package; do
	printf 'control plane: building %s (once; the first takes some minutes)\n' "$name" >&2
	CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$work/$name" "$package"
done <<'BINARIES'
kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler
kubectl k8s.io/kubernetes/cmd/kubectl
etcd go.etcd.io/etcd/server/v3
kwok sigs.k8s.io/kwok/cmd/kwok
BINARIES

# kwok without its stages plays no pod: they are YAML files of its module.
stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
for file in "$stages"/node/fast/*.yaml "$stages"/node/heartbeat-with-lease/*.yaml "$stages"/pod/fast/*.yaml; do
	case $file in */kustomization.yaml) continue ;; esac
	printf -- '---\n'
	cat "$file"
	printf '\n'
done >"$work/stages.yaml"

done_once

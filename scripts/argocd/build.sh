#!/usr/bin/env bash
# Builds Argo CD from Go modules, once for each content of what is in this folder,
# and prints the folder that holds its programs, a kustomize, and the definitions
# and configuration that it is installed with.
#
#   scripts/argocd/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once argocd "$here"/{go.mod,go.sum,main.go,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
printf 'argocd: building Argo CD (once; the first takes some minutes)\n' >&2
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/argocd-application-controller" .
for name in argocd-{repo-server,redis}; do
	ln -s argocd-application-controller "$work/$name"
done
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$work/kustomize" sigs.k8s.io/kustomize/kustomize/v5

# Files of the module cache are read-only, and none can be run.
module=$(go list -m -f '{{.Dir}}' github.com/argoproj/argo-cd/v3)
install -m 755 "$module/hack/git-verify-wrapper.sh" "$work/git-verify-wrapper.sh"
for part in crds/{application,applicationset,appproject}-crd base/config/argocd-{cm,cmd-params-cm,gpg-keys-cm,rbac-cm,secret,ssh-known-hosts-cm,tls-certs-cm}; do
	printf -- '---\n'
	cat "$module/manifests/$part.yaml"
done >"$work/install.yaml"

done_once

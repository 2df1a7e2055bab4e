#!/usr/bin/env bash
# Copies the Helm charts of Go modules out of the module cache, once for each content of
# go.mod, go.sum and this file, and prints the folder that holds them: one folder for each
# chart.
#
#   scripts/charts/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once charts "$here"/{go.mod,go.sum,build.sh}

cd "$here"
while read -r name module chart; do
	version=$(awk -v module="$module" '$1 == module { print $2 }' go.mod)
	dir=$(go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	mkdir -p "$work/$name"
	cp -R "$dir/$chart/." "$work/$name"
done <<'CHARTS'
cert-manager github.com/cert-manager/cert-manager deploy/charts/cert-manager
kyverno github.com/kyverno/kyverno charts/kyverno
ingress-nginx k8s.io/ingress-nginx charts/ingress-nginx
external-dns sigs.k8s.io/external-dns charts/external-dns
karpenter sigs.k8s.io/karpenter kwok/charts
metrics-server sigs.k8s.io/metrics-server charts/metrics-server
CHARTS
chmod -R u+w "$work" # files of the module cache are read-only

done_once

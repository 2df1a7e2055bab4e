#!/usr/bin/env bash
# Builds Prometheus, its promtool and the Pushgateway from Go modules, once for each
# content of go.mod, go.sum and this file, and prints the folder that contains them. The
# build leaves out service discovery and the web UI.
#
#   scripts/prometheus/build.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/once.sh
. "$here/../once.sh"
once prometheus "$here"/{go.mod,go.sum,pushgateway/go.mod,pushgateway/go.sum,build.sh} <(go env GOVERSION GOOS GOARCH)

cd "$here"
printf 'prometheus: building Prometheus and the Pushgateway (once; the first build takes some minutes)\n' >&2
CGO_ENABLED=0 go build -tags remove_all_sd,netgo -trimpath -ldflags "-s -w" -o "$work/" \
	github.com/prometheus/prometheus/cmd/prometheus github.com/prometheus/prometheus/cmd/promtool
cd "$here/pushgateway"
CGO_ENABLED=0 go build -tags netgo -trimpath -ldflags "-s -w" -o "$work/" github.com/prometheus/pushgateway

done_once

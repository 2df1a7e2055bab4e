#!/usr/bin/env bash
# Writes testdata/github/openapi.json anew, from the description of GitHub's API
# that the npm package @octokit/openapi holds. The result is committed; whoever
# runs this reads what changed, and puts the version into the README beside it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=23.0.2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "@octokit/openapi@$version" >/dev/null
tar -xzf "$work"/octokit-openapi-"$version".tgz -C "$work" package/generated/api.github.com.json
go run ./scripts/openapi <"$work"/package/generated/api.github.com.json >"$work"/openapi.json
mv "$work"/openapi.json testdata/github/openapi.json
chmod 644 testdata/github/openapi.json

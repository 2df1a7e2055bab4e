#!/usr/bin/env bash
# Runs one part of the tests that need more than Go and git. The first build tag of a file
# of tests is its part; further tags are of parts that use its helpers.
#
#   scripts/part.sh cluster    tests with a real control plane
#   scripts/part.sh count      the number of test functions in all parts of make test-all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
part=${1:?which part: cluster, gitops, aws, pages, long, or count}

# functions PATTERN: the tests in files whose first build tag matches.
functions() {
	git grep -lE "^//go:build ($1)( |\$)" -- '*_test.go' | xargs grep -HoE '^func Test[A-Z][A-Za-z0-9_]*' | grep -v ':func TestMain$'
}

if [ "$part" = count ]; then
	functions 'cluster|gitops|aws|pages|long' | wc -l
	exit
fi

tests=$(functions "$part")
names=$(sed 's/.*:func //' <<<"$tests" | sort -u | paste -sd'|')
packages=$(sed 's|/[^/]*$||; s|^|./|' <<<"$tests" | sort -u)
# A package waits for clusters as often as it works, so one more than there are processors
# is tested at once.
# shellcheck disable=SC2086 # a word is a package
go run "${GOTESTSUM:?run make test-$part}" -- -tags "$part" -p "$(($(getconf _NPROCESSORS_ONLN) + 1))" -timeout 60m -run "^($names)\$" $packages

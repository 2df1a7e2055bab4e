#!/usr/bin/env bash
# Fuzzes every target of the repository for a time each, one more at once than the
# machine has processors.
#
#   scripts/fuzz.sh 10m
#
# What a target finds is written into testdata/fuzz of its package, and is a test
# from then on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:?how long to fuzz each target, as 20s or 10m}

fuzz() { # file:target
	local folder=${2%/*} target=${2##*:} said
	folder=${folder%%:*}
	if said=$(go test "./$folder" -run '^$' -fuzz "^$target\$" -fuzztime "$1" -parallel 1 2>&1); then
		echo "fuzzed $folder $target for $1"
	# On a busy machine Go before 1.27 may take the end of the time for a failure, with
	# no input to show for it: golang/go#75804.
	elif [[ $said == *$'\n    context deadline exceeded\n'* && $said != *"Failing input written"* ]]; then
		echo "fuzzed $folder $target for $1, which Go ended late"
	else
		printf '%s %s:\n%s\n' "$folder" "$target" "$said"
		return 1
	fi
}
export -f fuzz

git ls-files '*_test.go' | xargs grep -HoE '^func Fuzz[A-Za-z]+' | sed 's/:func /:/' |
	xargs -P $(($(getconf _NPROCESSORS_ONLN) + 1)) -n 1 bash -c 'fuzz "$0" "$1"' "$time"

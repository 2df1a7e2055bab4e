# Sourced by the scripts that fill a folder below .cache, once for each content of
# what it is made from, and print it. The folder is complete or absent: a script
# that was stopped half-way leaves nothing that the tests would take for one.
#
#   . scripts/once.sh
#   once npm "$here"/{package-lock.json,install.sh} <(uname -sm)
#   ... fill "$work" ...
#   done_once
# shellcheck shell=bash

# once NAME FILE...: prints the folder of .cache/NAME for what the files hold, and
# ends the script, where it is there; else sets $work, an empty folder to fill.
once() {
	local root name=$1
	shift
	root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
	mkdir -p "$root/.cache/$name"
	cache=$(cd "$root/.cache/$name" && pwd -P)
	out=$cache/$(cat "$@" | sha256sum | cut -c1-16)
	if [ -d "$out" ]; then
		touch -c "$out" 2>/dev/null || true # in use, so it stays
		echo "$out"
		exit 0
	fi
	work=$(mktemp -d "$cache/making.XXXXXX")
	trap 'rm -rf "$work"' EXIT
}

# done_once gives the folder its name, and prints it.
done_once() {
	# A rename is what makes the folder exist; of two that raced, the first stays.
	chmod 755 "$work"
	mv -T "$work" "$out" 2>/dev/null || [ -d "$out" ]
	# Another branch may want another content: what was used of late stays.
	find "$cache" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
	echo "$out"
}

#!/bin/sh
# Says all at once what this machine lacks for the tests, and how to get it.
#
#   scripts/need.sh short    Go and git
#   scripts/need.sh all      and what the real control plane and Flux are built
#                            with, what the stand-ins for AWS run on, what pages
#                            are opened in, and what git verifies signatures by
#
# It is plain sh, since bash may be among what is missing.
set -u
cd "$(dirname "$0")/.." || exit 1

lacks=
lack() { # name, what was found, how to get it
	lacks="$lacks$(printf '\n  %-20s %s; %s' "$1" "$2" "$3")"
}

# at_least FOUND WANTED compares versions by their numbers.
at_least() {
	awk -v found="$1" -v wanted="$2" 'BEGIN {
		split(found, f, /[^0-9]+/); split(wanted, w, /[^0-9]+/)
		for (i = 1; i <= 3; i++) if (f[i] + 0 != w[i] + 0) exit f[i] + 0 < w[i] + 0
	}'
}

# need NAME WANTED FOUND HOW: FOUND is the version, empty where there is none.
need() {
	if [ -z "$3" ]; then
		lack "$1 >= $2" "not found" "$4"
	elif ! at_least "$3" "$2"; then
		lack "$1 >= $2" "found $3" "$4"
	fi
}

# A go that is too old, and may not fetch another, says nothing inside a module.
go_found=$(go env GOVERSION 2>/dev/null || (cd / && go env GOVERSION 2>/dev/null))
go_wanted=$(awk '$1 == "go" { print $2 }' go.mod)
need go "$go_wanted" "${go_found#go}" "https://go.dev/dl/"
need git 2.31 "$(git --version 2>/dev/null | sed 's/[^0-9]*//;s/ .*//')" "https://git-scm.com/downloads"

# The git server of the tests is git's own. Some systems pack it by itself.
if ! [ -x "$(git --exec-path 2>/dev/null)/git-http-backend" ]; then
	lack "git http-backend" "not found" "Alpine: apk add git-daemon; elsewhere it comes with git"
fi

if [ "${1:-all}" = all ]; then
	need bash 4.0 "$(bash -c 'echo "$BASH_VERSION"' 2>/dev/null)" "the system's packages; macOS: brew install bash"
	for tool in sha256sum mktemp find; do
		command -v "$tool" >/dev/null || lack "$tool" "not found" "GNU coreutils and findutils; macOS: brew install coreutils findutils"
	done
	# git itself needs 2.34 to verify by an SSH key.
	need git 2.34 "$(git --version 2>/dev/null | sed 's/[^0-9]*//;s/ .*//')" "https://git-scm.com/downloads"
	command -v ssh-keygen >/dev/null || lack ssh-keygen "not found" "Debian: apt install openssh-client; elsewhere it is OpenSSH's"
	command -v script >/dev/null || lack script "not found" "Debian: apt install bsdutils; elsewhere it is in util-linux"
	need node 20 "$(node --version 2>/dev/null | sed 's/^v//')" "https://nodejs.org/"
	need npm 8 "$(npm --version 2>/dev/null)" "it comes with node"
	need python3 3.11 "$(python3 -c 'import platform; print(platform.python_version())' 2>/dev/null)" "https://www.python.org/downloads/"
	if command -v python3 >/dev/null && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
		lack "python3 venv" "not found" "Debian: apt install python3-venv"
	fi
	# Where there is none, scripts/chromium/fetch.sh unpacks the package of Debian.
	if [ -n "${GITLATCH_CHROMIUM:-}" ]; then
		command -v "$GITLATCH_CHROMIUM" >/dev/null || lack chromium "GITLATCH_CHROMIUM is $GITLATCH_CHROMIUM, which cannot be run" "set it to one that can"
	elif ! { command -v chromium || command -v google-chrome || command -v google-chrome-stable || command -v chromium-browser; } >/dev/null; then
		if ! { command -v apt-get && command -v dpkg-deb && grep -x 'ID=debian' /etc/os-release; } >/dev/null 2>&1; then
			lack chromium "not found" "install it, or set GITLATCH_CHROMIUM"
		fi
	fi
	# The first run fills the caches of Go: 15 GB of the build cache, 7 GB of modules. With
	# the programs in .cache, it was measured at 24 GB. Full caches need less.
	if ! ls -d .cache/controlplane/*/kube-apiserver .cache/flux/*/kustomize-controller >/dev/null 2>&1; then
		cache=$(go env GOCACHE 2>/dev/null)
		modules=$(go env GOMODCACHE 2>/dev/null)
		mkdir -p "$cache" 2>/dev/null
		free=$(df -Pk "$cache" 2>/dev/null | awk 'NR == 2 { print int($4 / 1048576) }')
		if [ "${free:-20}" -lt 20 ]; then
			full=$(du -sk "$cache" "$modules" 2>/dev/null | awk '{ n += $1 } END { print int(n / 1048576) }')
			if [ "$((free + full))" -lt 20 ]; then
				lack "20 GiB of disk" "$free GiB are free, and the caches of Go have $full GiB" "make room where $cache lies, or set GOCACHE"
			fi
		fi
	fi
fi

if [ -n "$lacks" ]; then
	printf 'this machine lacks:%s\n' "$lacks" >&2
	exit 1
fi

#!/bin/sh
# Lists all at once what this machine lacks for a target of the Makefile, and how to get it.
#
#   scripts/need.sh test       Go and git
#   scripts/need.sh cluster    and programs and disk space to build a control plane
#   scripts/need.sh gitops     the same for Flux, Argo CD, Helm and Flagger
#   scripts/need.sh aws        the same, and node and Python for the emulators of AWS
#   scripts/need.sh pages      node and Chromium
#   scripts/need.sh long       ssh-keygen and openssl, which verify signatures
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

need bash 4.0 "$(bash -c 'echo "$BASH_VERSION"' 2>/dev/null)" "the system's packages; macOS: brew install bash"

# need_disk GIB PROGRAM: the disk space of the first run. PROGRAM is below .cache after it.
need_disk() {
	ls -d .cache/$2 >/dev/null 2>&1 && return
	cache=$(go env GOCACHE 2>/dev/null)
	mkdir -p "$cache" 2>/dev/null
	free=$(df -Pk "$cache" 2>/dev/null | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "${free:-$1}" -ge "$1" ] && return
	full=$(du -sk "$cache" "$(go env GOMODCACHE 2>/dev/null)" 2>/dev/null | awk '{ n += $1 } END { print int(n / 1048576) }')
	[ "$((free + full))" -ge "$1" ] && return
	lack "$1 GiB of disk" "$free GiB are free, and the caches of Go have $full GiB" "make room where $cache lies, or set GOCACHE"
}

need_node() {
	need node 20 "$(node --version 2>/dev/null | sed 's/^v//')" "https://nodejs.org/"
	need npm 8 "$(npm --version 2>/dev/null)" "it comes with node"
}

need_coreutils() {
	for tool in sha256sum mktemp find; do
		command -v "$tool" >/dev/null || lack "$tool" "not found" "GNU coreutils and findutils; macOS: brew install coreutils findutils"
	done
}

case ${1:-test} in
test) ;;
cluster)
	need_coreutils
	need_disk 8 'controlplane/*/kube-apiserver'
	;;
gitops)
	need_coreutils
	need_disk 20 'argocd/*/argocd'
	;;
aws)
	need_coreutils
	need_disk 8 'controlplane/*/kube-apiserver'
	need_node
	need python3 3.11 "$(python3 -c 'import platform; print(platform.python_version())' 2>/dev/null)" "https://www.python.org/downloads/"
	if command -v python3 >/dev/null && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
		lack "python3 venv" "not found" "Debian: apt install python3-venv"
	fi
	command -v script >/dev/null || lack script "not found" "Debian: apt install bsdutils; elsewhere it is in util-linux"
	;;
pages)
	need_coreutils
	need_node
	# Without a Chromium, scripts/chromium/fetch.sh unpacks the package of Debian.
	if [ -n "${GITLATCH_CHROMIUM:-}" ]; then
		command -v "$GITLATCH_CHROMIUM" >/dev/null || lack chromium "GITLATCH_CHROMIUM is $GITLATCH_CHROMIUM, which cannot be run" "set it to one that can"
	elif ! { command -v chromium || command -v google-chrome || command -v google-chrome-stable || command -v chromium-browser; } >/dev/null; then
		if ! { command -v apt-get && command -v dpkg-deb && grep -x 'ID=debian' /etc/os-release; } >/dev/null 2>&1; then
			lack chromium "not found" "install it, or set GITLATCH_CHROMIUM"
		fi
	fi
	;;
long)
	# git verifies by an SSH key since 2.34.
	need git 2.34 "$(git --version 2>/dev/null | sed 's/[^0-9]*//;s/ .*//')" "https://git-scm.com/downloads"
	command -v ssh-keygen >/dev/null || lack ssh-keygen "not found" "Debian: apt install openssh-client; elsewhere it is OpenSSH's"
	command -v openssl >/dev/null || lack openssl "not found" "Debian: apt install openssl"
	;;
*)
	echo "scripts/need.sh: what is $1? Use test, cluster, gitops, aws, pages or long" >&2
	exit 2
	;;
esac

if [ -n "$lacks" ]; then
	printf 'for make %s, this machine lacks:%s\n' "$([ "${1:-test}" = test ] && echo test || echo "test-$1")" "$lacks" >&2
	exit 1
fi

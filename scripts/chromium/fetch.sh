#!/usr/bin/env bash
# Prints the path of a Chromium for the tests of pages.
#
#   scripts/chromium/fetch.sh
#
# It is $GITLATCH_CHROMIUM, else one on the PATH. Where there is none, on Debian,
# its package and what the system lacks for it are unpacked below .cache/chromium,
# once for each content of this file: without root, and without a change to the
# system, whose sources, keys and list of installed packages apt reads. The folder
# is complete or absent.
set -euo pipefail

if [ -n "${GITLATCH_CHROMIUM:-}" ]; then
	command -v "$GITLATCH_CHROMIUM" && exit 0
	echo "chromium: GITLATCH_CHROMIUM is $GITLATCH_CHROMIUM, which cannot be run" >&2
	exit 1
fi
for name in chromium google-chrome google-chrome-stable chromium-browser; do
	command -v "$name" && exit 0
done
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null || ! grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then
	echo 'chromium: not found; install it, or set GITLATCH_CHROMIUM' >&2
	exit 1
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$here/../../.cache/chromium"
cache=$(cd "$here/../../.cache/chromium" && pwd -P)
key=$(cat "$here/fetch.sh" /etc/os-release <(dpkg --print-architecture) | sha256sum | cut -c1-16)
out=$cache/$key

# What it takes from the system may have gone since.
runs() { "$1/chromium" --version >/dev/null 2>&1; }

if [ -d "$out" ] && runs "$out"; then
	touch -c "$out" 2>/dev/null || true # in use, so it stays
	echo "$out/chromium"
	exit 0
fi

work=$(mktemp -d "$cache/fetching.XXXXXX")
trap 'rm -rf "$work"' EXIT
apt=$work/apt root=$work/root
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$root"

# Read after the system's configuration, whose hooks are about the system.
cat >"$apt/conf" <<CONF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Install-Pkgs;
Dir::State::lists "$apt/lists";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
Dir::Log "$apt";
APT::Sandbox::User "";
APT::Install-Recommends "false";
APT::Keep-Downloaded-Packages "true";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Debug::NoLocking "true";
CONF

printf 'chromium: unpacking the package of Debian (once; some 100 MB)\n' >&2
# A source of the system that does not answer need not be the one with Chromium.
apt-get -c "$apt/conf" -qq update >&2 || true
apt-get -c "$apt/conf" -qq --yes --download-only install chromium fonts-dejavu-core >&2
for package in "$apt"/archives/*.deb; do
	dpkg-deb -x "$package" "$root"
done
rm -rf "$apt"

# Paths are those after the rename.
cat >"$work/fonts.conf" <<FONTS
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>$out/root/usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>$out/fonts</cachedir>
  <alias><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <match target="pattern"><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
FONTS
libraries=$(find "$root" -name '*.so*' -printf '%h\n' | sort -u | sed "s|^$root|\$here/root|" | paste -sd:)
cat >"$work/chromium" <<WRAPPER
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd)
export LD_LIBRARY_PATH="$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="\$here/fonts.conf"
exec "\$here/root/usr/lib/chromium/chromium" "\$@"
WRAPPER
chmod 755 "$work" "$work/chromium"
if ! runs "$work"; then
	echo 'chromium: the package of Debian does not run here; install it, or set GITLATCH_CHROMIUM' >&2
	exit 1
fi

# A rename is what makes the folder exist; of two that raced, the first stays.
if [ -d "$out" ] && ! runs "$out"; then rm -rf "$out"; fi
mv -T "$work" "$out" 2>/dev/null || [ -d "$out" ]
find "$cache" -mindepth 1 -maxdepth 1 -mtime +14 -exec rm -rf {} +
echo "$out/chromium"

#!/usr/bin/env bash
# Signs a file with a key for the test, and verifies the signature. The workflow release
# signs with cosign and without a key. The signature here has the format of
# "cosign sign-blob --key", ECDSA P-256 over SHA-256 in base64, which
# "cosign verify-blob --key FILE.pub --signature FILE.sig --insecure-ignore-tlog FILE"
# accepts. The key is removed at the end.
#
#   scripts/release/sign.sh dist/release/SHA256SUMS
set -euo pipefail
file=$1
key=$(mktemp)
trap 'rm -f "$key"' EXIT

openssl ecparam -name prime256v1 -genkey -noout -out "$key"
openssl ec -in "$key" -pubout -out "$file.pub" 2>/dev/null
openssl dgst -sha256 -sign "$key" "$file" | openssl base64 -A >"$file.sig"

verify() { openssl dgst -sha256 -verify "$file.pub" -signature <(openssl base64 -d -A -in "$file.sig") "$1"; }
verify "$file"
if verify <(cat "$file"; echo) >/dev/null 2>&1; then
	echo "sign: the signature of $file also accepts a changed file" >&2
	exit 1
fi

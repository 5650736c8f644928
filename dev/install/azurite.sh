#!/usr/bin/env bash
# Azurite: the vendor's emulator of Azure Blob Storage, from npm.
. "$(dirname "$0")/_shared.bash"

version=3.35.0
target="$TOOLS/azurite-$version"
[ -x "$target/node_modules/.bin/azurite-blob" ] && exit 0
say "azurite $version"
command -v npm >/dev/null || apt_install nodejs npm

building="$(mktemp -d "$TOOLS/.azurite.XXXXXX")"
trap 'rm -rf "$building"' EXIT
npm install --prefix "$building" --no-audit --no-fund --loglevel=error "azurite@$version" >/dev/null
rm -rf "$target"
mv "$building" "$target"

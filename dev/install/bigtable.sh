#!/usr/bin/env bash
# The vendor's emulator of Bigtable, built with Go.
. "$(dirname "$0")/_go.bash"

version=v1.58.0
target="$TOOLS/bigtable-emulator-$version"
[ -x "$target" ] && exit 0
say "Bigtable emulator $version"
go_install "$target" "cloud.google.com/go/bigtable/cmd/emulator@$version"

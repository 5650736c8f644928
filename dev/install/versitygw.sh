#!/usr/bin/env bash
# versitygw: an S3 server over a directory, built with Go (about three minutes the first time).
. "$(dirname "$0")/_go.bash"

version=v1.8.0
target="$TOOLS/versitygw-$version"
[ -x "$target" ] && exit 0
say "versitygw $version"
go_install "$target" "github.com/versity/versitygw/cmd/versitygw@$version"

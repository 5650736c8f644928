#!/usr/bin/env bash
# mc, MinIO's client of S3, which the tests of the gateway run unchanged; built with Go (about a minute the first time).
. "$(dirname "$0")/_go.bash"

version=v0.0.0-20250313080218-cf909e1063a9
target="$TOOLS/mc-$version"
[ -x "$target" ] && exit 0
say "mc $version"
go_install "$target" "github.com/minio/mc@$version"

#!/usr/bin/env bash
# fake-gcs-server: Google Cloud Storage in memory, built with Go.
. "$(dirname "$0")/_go.bash"

version=v1.56.1
target="$TOOLS/fake-gcs-server-$version"
[ -x "$target" ] && exit 0
say "fake-gcs-server $version"
go_install "$target" "github.com/fsouza/fake-gcs-server@$version"

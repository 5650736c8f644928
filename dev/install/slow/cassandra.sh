#!/usr/bin/env bash
# Apache Cassandra's server, from Maven. Its configuration is written by dev/servers/cassandra.py.
. "$(dirname "$0")/../_maven.bash"

version=5.0.9
target="$TOOLS/cassandra-$version"
[ -d "$target" ] && exit 0
say "Cassandra $version"

building="$(mktemp -d "$TOOLS/.cassandra.XXXXXX")"
trap 'rm -rf "$building"' EXIT
maven_jars "$building" "org.apache.cassandra:cassandra-all:$version"
mv "$building" "$target"

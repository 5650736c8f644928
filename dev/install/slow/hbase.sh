#!/usr/bin/env bash
# Apache HBase in one process over a local directory, and its Thrift server, from Maven.
. "$(dirname "$0")/../_maven.bash"

version=2.6.4
target="$TOOLS/hbase-$version"
[ -d "$target" ] && exit 0
say "HBase $version"

building="$(mktemp -d "$TOOLS/.hbase.XXXXXX")"
trap 'rm -rf "$building"' EXIT
maven_jars "$building" "org.apache.hbase:hbase-server:$version-hadoop3" "org.apache.hbase:hbase-thrift:2.6.1"
mv "$building" "$target"

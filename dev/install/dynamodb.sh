#!/usr/bin/env bash
# DynamoDB Local: the vendor's own implementation for tests, from Maven, with a main that listens on 127.0.0.1 only.
. "$(dirname "$0")/_maven.bash"

version=3.1.0
main="$(dirname "$0")/DynamoDBOnLoopback.java"
target="$TOOLS/dynamodb-$version-$(sha256sum "$main" | cut -c1-8)"
[ -d "$target" ] && exit 0
say "DynamoDB Local $version"

building="$(mktemp -d "$TOOLS/.dynamodb.XXXXXX")"
trap 'rm -rf "$building"' EXIT
maven_jars "$building" "software.amazon.dynamodb:DynamoDBLocal:$version"
javac -cp "$building/lib/*" -d "$building" "$main"
mv "$building" "$target"

#!/usr/bin/env bash
# S3A: Hadoop's file system over S3, as jars for the Spark that is pinned, with the modules of the AWS SDK that it needs instead
# of the bundle of all of them (15 MB instead of 650).
. "$(dirname "$0")/_maven.bash"

hadoop=3.4.2 # that of pyspark's own jars: S3A and Hadoop are one release
sdk=2.29.52
cloud=4.1.2 # what ties Spark's commits to the committers of S3A, of the same Spark or nearly: 4.1.4 has none
target="$TOOLS/s3a-$hadoop"
[ -f "$target/lib/spark-hadoop-cloud_2.13-$cloud.jar" ] && exit 0
say "S3A $hadoop"

building="$(mktemp -d "$TOOLS/.s3a.XXXXXX")"
trap 'rm -rf "$building"' EXIT
without="software.amazon.awssdk:bundle,org.slf4j:*,io.netty:*"
maven_jars_without "$without" "$building" "org.apache.hadoop:hadoop-aws:$hadoop" \
  "software.amazon.awssdk:s3:$sdk" "software.amazon.awssdk:s3-transfer-manager:$sdk" "software.amazon.awssdk:sts:$sdk" \
  "software.amazon.awssdk:url-connection-client:$sdk"
maven_jars_without "*:*" "$building" "org.apache.spark:spark-hadoop-cloud_2.13:$cloud"
rm -rf "$target"
mv "$building" "$target"

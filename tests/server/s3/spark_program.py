"""What a user's Spark job does with S3A: writes, overwrites and reads, with and without the magic committer, and in a
workspace.

Run as a program of its own, so that no other test shares its JVM: endpoint, keys and bucket come as arguments, the
jars of S3A in the last. It prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

ROWS = 10_000


def session(endpoint: str, access_key_id: str, secret: str, jars: str, scratch: str) -> SparkSession:
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraClassPath": f"{jars}/*",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.local.dir": scratch,
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.access.key": access_key_id,
        "spark.hadoop.fs.s3a.secret.key": secret,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        "spark.hadoop.fs.s3a.committer.name": "file",
        "spark.hadoop.fs.s3a.committer.magic.enabled": "true",
        "spark.hadoop.fs.s3a.multipart.size": "5M",
        "spark.hadoop.fs.s3a.buffer.dir": scratch,
    }
    builder = SparkSession.builder.master("local[2]").appName("s3a")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def main() -> None:
    endpoint, access_key_id, secret, bucket, workspace, jars, scratch = sys.argv[1:]
    spark = session(endpoint, access_key_id, secret, jars, scratch)
    root = f"s3a://{bucket}/main/spark"
    frame = spark.range(ROWS).withColumn("part", f.col("id") % 2)
    found: dict[str, object] = {}

    for rows in (7, 5):
        frame.limit(rows).write.mode("overwrite").csv(f"{root}/plain")
    found["overwritten"] = spark.read.csv(f"{root}/plain").count()
    for rows in (4, 3):
        frame.limit(rows).write.mode("overwrite").csv(f"s3a://{bucket}/{workspace}/spark/plain")
    found["in a workspace"] = spark.read.csv(f"s3a://{bucket}/{workspace}/spark/plain").count()

    spark.conf.set("fs.s3a.committer.name", "magic")
    spark.conf.set(
        "spark.sql.sources.commitProtocolClass", "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol"
    )
    spark.conf.set(
        "spark.sql.parquet.output.committer.class", "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter"
    )
    frame.write.partitionBy("part").parquet(f"{root}/magic")
    found["by the magic committer"] = spark.read.parquet(f"{root}/magic").where("id >= 10").count()
    Path(scratch, "found.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main()

"""Making a table of Bigtable: a service of its own, with a library that is slow to import."""

from __future__ import annotations

from google.api_core.exceptions import AlreadyExists
from google.cloud import bigtable_admin_v2 as admin
from google.cloud.bigtable_admin_v2.services.bigtable_table_admin.transports import (
    BigtableTableAdminGrpcAsyncIOTransport,
)

from headwater.kv.drivers.bigtable_channels import Channels


async def create_table(channels: Channels, instance: str, table: str, family: str, seconds: float) -> None:
    """Make *table* with one column *family*, unless somebody else was faster."""
    transport = channels.admin_transport(BigtableTableAdminGrpcAsyncIOTransport)
    client = admin.BaseBigtableTableAdminAsyncClient(transport=transport)
    rule = admin.GcRule({"max_num_versions": 1})  # type: ignore[no-untyped-call]  # the library leaves this one out
    families = {family: admin.ColumnFamily(gc_rule=rule)}
    request = admin.CreateTableRequest(parent=instance, table_id=table, table=admin.Table(column_families=families))
    try:
        await client.create_table(request, retry=None, timeout=seconds)
    except AlreadyExists:
        return

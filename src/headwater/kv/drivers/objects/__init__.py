"""`s3://`, `gs://`, `az://` and `file://`: one object per key, so that a lake needs no database at all.

Compare-and-swap is the object store's own conditional put. `docs/kv/objects.md` describes names, costs and limits.
"""

from headwater.kv.drivers.objects.store import ObjectsStore, connect

__all__ = ["ObjectsStore", "connect"]

"""Objects in a directory of this machine: one file an object, written beside and renamed into place, if anybody looks.

Our own, because obstore's has no conditional update, syncs nothing, and lists in no order.
"""

from headwater.blob.local.store import open_directory

__all__ = ["open_directory"]

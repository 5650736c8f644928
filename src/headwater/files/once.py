"""Putting the bytes of an append that may be there already: those that are there are never written over.

The object of an append is named by its id, and commits refer to it. So who repeats an id with other bytes, or uses one
twice, would change what is committed.
"""

from __future__ import annotations

import hashlib

from headwater.blob import ANY, IF_ABSENT, BlobStore, Body, Condition, ConditionFailed
from headwater.blob.limits import MAX_CONDITIONAL
from headwater.engine.errors import BadRequest


async def put_once(blobs: BlobStore, name: str, body: Body, what: str) -> int:
    """Have *body* at *name*, and say how many bytes that are; `BadRequest` if other bytes are there.

    One request, if nothing is there; of a stream, or of what is too large for a condition, two.
    """
    if isinstance(body, bytes) and len(body) <= MAX_CONDITIONAL:
        condition: Condition = IF_ABSENT
    elif await blobs.stat(name) is None:
        condition = ANY
    else:
        return await _compared(blobs, name, body, what)
    try:
        return (await blobs.put(name, body, condition=condition)).size
    except ConditionFailed:
        return await _compared(blobs, name, body, what)


async def _compared(blobs: BlobStore, name: str, body: Body, what: str) -> int:
    wanted = await _told(body)
    found = await _told(await blobs.get(name))
    if wanted != found:
        raise BadRequest(
            f"{what}: {found[0]} other bytes have this id; who repeats an append repeats its bytes, and what is new "
            "has a new id"
        )
    return found[0]


async def _told(body: Body) -> tuple[int, bytes]:
    """How many bytes *body* has, and a hash of them."""
    size, digest = 0, hashlib.sha256()
    if isinstance(body, bytes):
        return len(body), hashlib.sha256(body).digest()
    async for chunk in body:
        size += len(chunk)
        digest.update(chunk)
    return size, digest.digest()

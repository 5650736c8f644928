"""Answers that are tables of any length: streams of Arrow, sent as they are found."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pyarrow as pa

ARROW = (b"content-type", b"application/vnd.apache.arrow.stream")


async def arrow_stream(schema: pa.Schema, batches: AsyncIterator[pa.RecordBatch]) -> AsyncIterator[bytes]:
    """The format of Arrow for streams: what is cut off lacks its end, and no reader takes it for whole."""
    sent = _Sent()
    writer = pa.ipc.new_stream(pa.PythonFile(sent, mode="w"), schema)
    async for batch in batches:
        writer.write_batch(batch)
        yield sent.taken()
    writer.close()
    yield sent.taken()


class _Sent:
    """A file that keeps what is written to it until that is taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """What was written can still be taken."""

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)

"""The elements of a listing: one for each key, written from the columns that the entries lie in; see `columns`.

An entry that lies in no segment, as one that is staged, is written by itself. Both look the same; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from headwater.engine.conditional import version_of
from headwater.engine.paths import FILES, path_of
from headwater.index import CommonPrefix, Entry, Listing, Run
from headwater.index.schema import entries_of
from headwater.server.columns import CONTROL, Part, WrittenRows, digits, without_prefix, written
from headwater.server.s3.checksums import checksum_in
from headwater.server.s3.metadata import CHECKSUM
from headwater.server.s3.xml import escaped, moment

Encode: TypeAlias = Callable[[str], str]
"""How keys stand in a document."""

SPECIAL = CONTROL + b'&<>"\xef'
"""What may have to be escaped in XML: a noncharacter begins with the last of these."""

_AS_IT_IS = re.compile(r"[A-Za-z0-9_.\-~/]*")
_NOT_AS_IT_IS = bytes(byte for byte in range(256) if not _AS_IT_IS.fullmatch(chr(byte)))


def quoted(key: str) -> str:
    """A key as it stands in a document when the client asks for keys escaped."""
    return key if _AS_IT_IS.fullmatch(key) else quote(key, safe="/")


class Rows:
    """Writes the elements *name* of keys, each with *owner* in it. Keys stand there as *encode* has them."""

    def __init__(self, kept: WrittenRows, encode: Encode, *, owner: str, name: str) -> None:
        self._kept = kept
        self._encode = encode
        self._owner = owner
        self._name = name

    def of(self, root: str, listing: Listing) -> Iterable[str]:
        """The elements of what is listed, whose keys begin with *root*."""
        style = "xml", self._name, self._encode is quoted, self._owner, root
        for piece in listing.pieces:
            if isinstance(piece, Run):
                yield self._kept.text(piece, style, lambda columns: self._rows(root, columns)).decode()
            elif isinstance(piece, Entry):
                yield self._one(root, piece)
            else:
                yield self._common(root, piece)

    def _common(self, root: str, common: CommonPrefix) -> str:
        key = escaped(self._encode(root + path_of(common.key)))
        return f"<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"

    def _one(self, root: str, entry: Entry) -> str:
        name = self._name
        return (
            f"<{name}><Key>{escaped(self._encode(root + path_of(entry.key)))}</Key>"
            f"<LastModified>{moment(entry.modified)}</LastModified><ETag>&quot;{escaped(version_of(entry))}&quot;</ETag>"
            f"{_computed(entry.metadata.get(CHECKSUM))}<Size>{entry.size}</Size>{self._owner}"
            f"<StorageClass>STANDARD</StorageClass></{name}>"
        )

    def _rows(self, root: str, columns: pa.RecordBatch) -> list[Part]:
        name = self._name
        paths = without_prefix(columns.column("key"), len(FILES))
        encoded = written(paths, _NOT_AS_IT_IS, quoted) if self._encode is quoted else paths
        return [
            f"<{name}><Key>{escaped(self._encode(root))}",
            written(encoded, SPECIAL, escaped),
            "</Key><LastModified>",
            *_moments(columns.column("modified")),
            "</LastModified><ETag>&quot;",
            written(_versions(columns), SPECIAL, escaped),
            "&quot;</ETag>",
            _checksums(columns.column("metadata")),
            "<Size>",
            digits(columns.column("size")),
            f"</Size>{self._owner}<StorageClass>STANDARD</StorageClass></{name}>",
        ]


def _moments(milliseconds: pa.Array) -> list[Part]:
    """Times as `moment` writes them: a day, and a time of that day."""
    times = milliseconds.cast(pa.timestamp("ms"))
    return [pc.cast(times.cast(pa.date32()), pa.string()), "T", pc.cast(times.cast(pa.time32("ms")), pa.string()), "Z"]


def _versions(columns: pa.RecordBatch) -> pa.Array:
    checksums = columns.column("checksum")
    if not checksums.null_count and "" not in checksums.to_pylist():
        return checksums
    return pa.array([version_of(entry) for entry in entries_of(columns)], pa.string())


def _checksums(metadata: pa.Array) -> Part:
    """What each says of a checksum beside its ETag."""
    if metadata.null_count == len(metadata):
        return ""
    return pa.array([_computed(dict(pairs or ()).get(CHECKSUM)) for pairs in metadata.to_pylist()], pa.string())


def _computed(kept: str | None) -> str:
    checksum = checksum_in(kept) if kept is not None else None
    if checksum is None:
        return ""
    return f"<ChecksumAlgorithm>{checksum.algorithm}</ChecksumAlgorithm><ChecksumType>{checksum.kind}</ChecksumType>"

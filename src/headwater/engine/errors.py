"""What can go wrong in the engine, beyond what the layers below it say."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.errors import HeadwaterError
from headwater.index import Conflict


class EngineError(HeadwaterError):
    """The root of this layer's errors."""


class BadRequest(EngineError):
    """Something that was asked for makes no sense, which the message explains. Nothing was changed."""


class UnfitTree(BadRequest):
    """A tree that was proposed is not as it must be, which the message explains. Nothing was committed."""


class RepositoryNotFound(EngineError):
    """There is no repository of that name."""


class RepositoryExists(EngineError):
    """There is a repository of that name already."""


class ReadOnly(EngineError):
    """The repository takes no writes."""


class PathNotFound(EngineError):
    """There is nothing at that path."""


class PathConflict(EngineError):
    """In an append repository, something would be a file and a directory at once. Nothing was committed."""


class PreconditionFailed(EngineError):
    """What is at the path is not as the condition says. Nothing was written."""


class NothingToMatch(PreconditionFailed):
    """The condition speaks of something that is there, and there is nothing at the path. Nothing was written."""


class UploadNotFound(EngineError):
    """There is no open upload of that id."""


class PartNotAsListed(EngineError):
    """An upload is to be completed with a part that was not uploaded, or is another by now. Nothing was written."""


class PartsOutOfOrder(EngineError):
    """An upload is to be completed with parts that are not in the order of their numbers. Nothing was written."""


class PartTooSmall(EngineError):
    """An upload is to be completed with a part, not the last, that is smaller than parts are. Nothing was written."""


class NothingToMerge(EngineError):
    """The source brings nothing that the destination has not."""


class CorruptDump(EngineError):
    """A dump lacks something, or is not what its id says. No reference was made of it."""


class MergeConflict(EngineError):
    """Both sides changed the same paths. Nothing was merged."""

    def __init__(self, what: str, conflicts: Sequence[Conflict], count: int) -> None:
        some = ", ".join(repr(conflict.key.partition("/")[2]) for conflict in conflicts[:3])
        super().__init__(
            f"{what}: both sides changed {count} path(s), as {some}; choose a strategy, or make them agree first"
        )
        self.conflicts = conflicts
        self.count = count

"""What can go wrong in a job, beyond what the engine and Spark raise themselves."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class PipelineError(HeadwaterError):
    """The root of this layer's errors."""


class BadFrame(PipelineError):
    """A DataFrame that does not have the columns, or the rows, that it must have. The message names what is wrong."""


class NotInPlace(PipelineError):
    """Spark cannot read this object where it is."""

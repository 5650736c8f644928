"""The face that awaits.

A lake and a repository are opened, which asks the store; a branch or reference is merely named, and first looked at
when it is used. Any of them may be shared among tasks.
"""

from headwater.sdk.aio.branch import Branch
from headwater.sdk.aio.files import ReadFile, WriteFile
from headwater.sdk.aio.growing import CommitInProgress
from headwater.sdk.aio.ref import Ref
from headwater.sdk.aio.repository import Lake, Repository
from headwater.sdk.aio.workspace import Workspace

__all__ = ["Branch", "CommitInProgress", "Lake", "ReadFile", "Ref", "Repository", "Workspace", "WriteFile"]

"""Signatures of commits: made by clients, with keys that the server never sees, and kept beside the commit."""

from __future__ import annotations

from headwater.engine.signing import add_signature, signatures_of
from headwater.sdk.wire.signatures import CommitSignatures, ToldSignature, signature_of, told
from headwater.server.api.calling import Call
from headwater.server.api.operation import REPOSITORY, Group, needs

group = Group("signatures")

_PATH = "/repositories/{repository}/commits/{commitId}/signatures"


@group.operation("GET", _PATH, "listCommitSignatures", needs("fs:ReadCommit", REPOSITORY))
async def list_signatures(call: Call) -> CommitSignatures:
    """Who signed a commit; whether the signatures are good is for whoever trusts the keys to see"""
    commit, signatures = await signatures_of(await call.repository(), call["commitId"])
    return CommitSignatures(commit, [told(each) for each in signatures])


@group.operation("POST", _PATH, "signCommit", needs("fs:CreateCommit", REPOSITORY), status=204)
async def sign_commit(call: Call, body: ToldSignature) -> None:
    """Keep a signature of a commit; one of the same key is replaced"""
    await add_signature(await call.repository(), call["commitId"], signature_of(body))

"""The API as a page for people, made of the very operations that are routed. It needs no script and no other site."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby

from headwater.server.api.operation import Operation

_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Headwater: the API</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code{font:13px ui-monospace,monospace}td{padding:.15rem .8rem .15rem 0;vertical-align:top}h2{margin-top:2rem}
.m{color:#666}</style></head><body><h1>The API</h1>
<p>All paths are under <code>/api/v1</code>. <a href="/openapi.json">openapi.json</a> has every parameter and field.</p>
"""


def documentation(operations: Sequence[Operation]) -> bytes:
    """A table of *operations* for each group."""
    parts = [_HEAD]
    for group, members in groupby(sorted(operations, key=lambda each: each.group), key=lambda each: each.group):
        parts.append(f"<h2>{escape(group)}</h2><table>")
        parts += [_row(each) for each in members]
        parts.append("</table>")
    return "".join([*parts, "</body></html>"]).encode()


def _row(operation: Operation) -> str:
    caller = operation.caller
    who = caller if isinstance(caller, str) else ", ".join(need.action for need in caller)
    return (
        f'<tr><td class="m"><code>{operation.method}</code></td><td><code>{escape(operation.path)}</code></td>'
        f'<td>{escape(operation.summary.partition(chr(10))[0])}</td><td class="m"><code>{escape(who)}</code></td></tr>'
    )

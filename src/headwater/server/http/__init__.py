"""Requests and answers of HTTP as plain values, above ASGI and below every protocol that is spoken here."""

from headwater.server.http.asgi import Receive, Scope, Send
from headwater.server.http.ranges import Range, parse_range, place_in
from headwater.server.http.request import BodyTooLarge, ClientGone, Request
from headwater.server.http.response import File, Headers, Response, send

__all__ = [
    "BodyTooLarge",
    "ClientGone",
    "File",
    "Headers",
    "Range",
    "Receive",
    "Request",
    "Response",
    "Scope",
    "Send",
    "parse_range",
    "place_in",
    "send",
]

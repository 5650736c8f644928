"""XML as S3 speaks it: documents of requests, parsed with suspicion, and documents of answers, written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from xml.sax.saxutils import escape

from lxml import etree

from headwater.errors import HeadwaterError

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
CONTENT_TYPE = (b"content-type", b"application/xml")

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_PLAIN = re.compile(r"[A-Za-z0-9 !#$%'()*+,\-./:;=?@\[\]^_`{|}~]*")


class MalformedXML(HeadwaterError):
    """A document is not well-formed, not of the form that it must have, or tries to make the parser work."""


class Node:
    """An element of a parsed document, whatever its namespace."""

    def __init__(self, element: etree._Element) -> None:
        self._element = element
        self.name = _local(element)

    def __iter__(self) -> Iterator[Node]:
        return (Node(child) for child in self._element if isinstance(child.tag, str))

    @property
    def text(self) -> str:
        return self._element.text or ""

    def find(self, name: str) -> str | None:
        """The text of the child *name*, or None."""
        return next((child.text for child in self if child.name == name), None)

    def need(self, name: str) -> str:
        """The text of the child *name*, or `MalformedXML`."""
        found = self.find(name)
        if found is None:
            raise MalformedXML(f"{self.name}: it must have an element {name}")
        return found


def parse(content: bytes, root: str) -> Node:
    """The document in *content*, whose root must be *root*. No entity is expanded, nothing is fetched."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,  # or the text before one would be taken for all of the text
        remove_pis=True,
    )
    try:
        element = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise MalformedXML(f"the body is no XML document: {error}") from None
    if element.getroottree().docinfo.doctype:
        raise MalformedXML("the body has a document type, which no request needs")
    node = Node(element)
    if node.name != root:
        raise MalformedXML(f"the body must be a document {root}, not {node.name[:100]}")
    return node


def _local(element: etree._Element) -> str:
    return str(etree.QName(element).localname)


def document(root: str, *content: str, namespace: bool = True) -> bytes:
    """A document whose root has *content*, which is written already."""
    declared = f' xmlns="{NAMESPACE}"' if namespace else ""
    return f"{_HEAD}<{root}{declared}>{''.join(content)}</{root}>".encode()


def element(name: str, *content: str) -> str:
    """An element around *content*, which is written already."""
    return f"<{name}>{''.join(content)}</{name}>"


def text(name: str, value: str | int) -> str:
    """An element with a text."""
    return f"<{name}>{escaped(str(value))}</{name}>"


def flag(name: str, *, value: bool) -> str:
    return f"<{name}>{'true' if value else 'false'}</{name}>"


def escaped(value: str) -> str:
    """*value* as it is written in a document. What XML 1.0 has no way to write is written as S3 does."""
    if _PLAIN.fullmatch(value):
        return value
    return _CONTROL.sub(_reference, escape(value, {'"': "&quot;", "\r": "&#xd;"}))


def _reference(found: re.Match[str]) -> str:
    return f"&#x{ord(found[0]):x};"


def moment(milliseconds: int) -> str:
    """A time as S3 writes it in documents."""
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03d}Z"


@lru_cache(4096)
def _second(seconds: int) -> str:
    """Kept for a while: what is listed together was mostly written together."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")

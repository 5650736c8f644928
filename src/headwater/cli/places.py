"""How places are written: `repository/ref/path`, or `hw://repository/ref/path`; of a slash in a ref, `%2F`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from headwater.errors import HeadwaterError

SCHEMES = ("hw://", "lakefs://")
COMPLETIONS = 200
"""Names that are offered to who presses Tab: more are not read."""


class Place(msgspec.Struct, frozen=True):
    """A repository, a reference in it, a path there: what comes last may be empty."""

    repository: str
    ref: str = ""
    path: str = ""

    def __str__(self) -> str:
        """As it is written."""
        path = [self.path] if self.path else []
        return "/".join([self.repository, *([written_ref(self.ref)] if self.ref else []), *path])

    @property
    def directory(self) -> str:
        """What the paths begin with that are in the directory at this path."""
        return f"{self.path.rstrip('/')}/" if self.path else ""

    def at(self, path: str) -> Place:
        """The same, but for the path."""
        return msgspec.structs.replace(self, path=path)


def written_ref(ref: str) -> str:
    return ref.replace("/", "%2F")


def place_of(text: str) -> Place:
    """The place that *text* means."""
    for scheme in SCHEMES:
        text = text.removeprefix(scheme)
    repository, _, rest = text.partition("/")
    ref, _, path = rest.partition("/")
    return Place(repository, _read_ref(ref), path)


def _read_ref(text: str) -> str:
    return text.replace("%2F", "/").replace("%2f", "/")


class PlaceType(click.ParamType[Place]):
    """An argument that is a place with these parts, of which *optional* ones may be missing."""

    name = "place"

    def __init__(self, metavar: str, *parts: str, optional: tuple[str, ...] = ()) -> None:
        self._metavar = metavar
        self._parts = parts
        self._optional = optional

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002  (click's)
        return self._metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Place:
        if isinstance(value, Place):
            return value
        place = place_of(value)
        for part in ("repository", "ref", "path"):
            given = bool(getattr(place, part))
            if part in self._parts and not given:
                self.fail(f"{value!r} has no {_called(part)}: write {self._metavar}", param, ctx)
            if given and part not in (*self._parts, *self._optional):
                self.fail(f"{value!r} has a {_called(part)}, which is not for this: write {self._metavar}", param, ctx)
        return place

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Repositories, their references, and what is in directories: as far as this argument goes."""
        del param
        wanted = (*self._parts, *self._optional)
        with ctx.find_root().scope():
            return [CompletionItem(name) for name in completions(incomplete, wanted)]


def _called(part: str) -> str:
    return "reference" if part == "ref" else part


REPOSITORY = PlaceType("REPO", "repository")
BRANCH = PlaceType("REPO/BRANCH", "repository", "ref")
TAG = PlaceType("REPO/TAG", "repository", "ref")
REF = PlaceType("REPO/REF", "repository", "ref")
REF_PATH = PlaceType("REPO/REF[/PATH]", "repository", "ref", optional=("path",))
REF_PREFIX = PlaceType("REPO/REF[/PREFIX]", "repository", "ref", optional=("path",))
BRANCH_PATH = PlaceType("REPO/BRANCH[/PATH]", "repository", "ref", optional=("path",))
FILE = PlaceType("REPO/REF/PATH", "repository", "ref", "path")


class RefType(click.ParamType[str]):
    """A second reference of the repository that a place before it names: its name alone, or the place of it."""

    name = "ref"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002  (click's)
        return param.name.upper() if param.name else "REF"


def ref_in(repository: str, text: str) -> str:
    """The reference *text* of *repository*, which it may name or not. Raises if it names another one."""
    if "/" not in text:
        return _read_ref(text)
    place = place_of(text)
    if place.repository != repository:
        raise click.BadParameter(
            f"{text!r} is in another repository than {repository!r}; of a slash in a name write %2F"
        )
    if place.path or not place.ref:
        raise click.BadParameter(f"{text!r}: write a reference, as main~2, or its place, as {repository}/main~2")
    return place.ref


def completions(incomplete: str, wanted: Iterable[str]) -> list[str]:
    """What *incomplete* may go on to be. Nothing if the lake cannot be asked: a shell has no use for an error."""
    from headwater.cli.session import session  # noqa: PLC0415  (sessions know of places)

    scheme = next((scheme for scheme in SCHEMES if incomplete.startswith(scheme)), "")
    place = place_of(incomplete)
    parts = incomplete.removeprefix(scheme).count("/")
    try:
        lake = session().lake
        if parts == 0:
            end = "/" if "ref" in wanted else ""
            return [f"{scheme}{name}{end}" for name in islice(lake.repos(place.repository), COMPLETIONS)]
        repository = lake.repo(place.repository)
        start = f"{scheme}{place.repository}/"
        if parts == 1 and "ref" in wanted:
            end = "/" if "path" in wanted else ""
            names = [branch.name for branch in islice(repository.branches(place.ref), COMPLETIONS)]
            names += [tag.name for tag in islice(repository.tags(place.ref), COMPLETIONS)]
            return [f"{start}{written_ref(name)}{end}" for name in names]
        if parts > 1 and "path" in wanted:
            start += f"{written_ref(place.ref)}/"
            found = repository.ref(place.ref).list(place.path, delimiter="/")
            return [f"{start}{each.path}" for each in islice(found, COMPLETIONS)]
    except (HeadwaterError, OSError):
        pass
    return []

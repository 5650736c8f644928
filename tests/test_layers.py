"""The folders are the architecture: a layer imports only from those above it in the list."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import headwater

LAYERS = [
    "errors",
    "location",
    "drive",
    "outside",
    "metrics",
    "arrow",
    "blob",
    "kv",
    "index",
    "history",
    "refs",
    "staging",
    "engine",
    "files",
    "garbage",
    "auth",
    "actions",
    "sdk",
    "aio",
    "server",
    "pipeline",
    "testing",
    "cli",
]
"""From the lowest to the highest. A new folder finds its place here before it finds an import."""

ROOT = Path(headwater.__file__).parent


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "headwater":
            modules = [f"headwater.{name.name}" for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module]
        found |= {module.split(".")[1] for module in modules if module.startswith("headwater.")}
    return found


SOURCES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.name != "__init__.py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_its_own_layer_and_those_below(path: Path) -> None:
    allowed = LAYERS[: LAYERS.index(layer_of(path)) + 1]
    assert imported_layers(path) <= set(allowed)


def test_only_the_command_line_imports_the_test_kit() -> None:
    above = {"testing", "cli"}
    assert not any("testing" in imported_layers(path) for path in SOURCES if layer_of(path) not in above)

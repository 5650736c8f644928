"""Where `hw` begins."""

from __future__ import annotations

import click

import headwater
from headwater.cli.commanding import Root


@click.group("hw", cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(headwater.__version__, prog_name="hw")
def main() -> None:
    """Headwater: Git for data.

    Places are written hw://repository/ref/path, or repository/ref/path; of a slash in the name of a ref write %2F.
    """


if __name__ == "__main__":
    main()

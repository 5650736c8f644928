"""Files that grow by appends, in directories; what a range of commits added to them; commits in progress.

For append repositories, but for what reads directories, which is the same everywhere. How it works and what it costs is
in `docs/files.md`.
"""

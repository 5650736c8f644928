"""The `hw` command: the SDK for people and for shell scripts. A group of commands is a file.

Nothing is imported before it is needed, so that `hw --help` and the completion of a shell answer at once. This is the
one layer that prints, reads the environment and knows the user's home. `docs/cli.md` tells what each command does.
"""

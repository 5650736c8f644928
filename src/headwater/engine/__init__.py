"""The engine: a lake of repositories, and each verb that a repository knows in a file of its own."""

"""Start real servers on 127.0.0.1, for tests and benchmarks. `dev/install/` puts them on the machine.

One file a server, each with `serve(directory)`, a context manager that yields where the server answers and stops it in
the end. When it is not installed it raises `NotInstalled`, saying how to get it.
"""

"""The REST API: what clients of lakeFS speak, and our additions in the same style. A group of operations is a file.

An operation says once what it is called, what it takes and answers, and what its caller must be allowed to do; routing,
checks, and the OpenAPI document are all made of that.
"""

"""The server: one ASGI application over the core, on one port.

`application` sends a request to the room that speaks its protocol: `api/` the REST API, `s3/` the S3 gateway. What
every room works with is in `services`; `http/` has requests and answers as plain values. `docs/server.md` has the rest.
"""

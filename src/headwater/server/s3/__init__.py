"""The S3 gateway: a repository is a bucket, and a key is a reference, a slash and a path.

`recognising` tells its requests from others, `gateway` verifies and answers them, `routing` says which operation one
is. Each file of operations stands for one thing that S3 does. `places` is where a key's first part is given a meaning.
`docs/s3.md` has what is supported, by operation, and what is different here.
"""

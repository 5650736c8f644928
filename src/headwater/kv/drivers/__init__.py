"""One file a database. A driver knows partitions, keys and values, and nothing of what they are for."""

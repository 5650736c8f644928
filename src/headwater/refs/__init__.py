"""Names for commits: branches, which move, and tags, which do not; and the log of what was done to them."""

"""What is written to a branch and not yet committed, and the protocol by which none of it is ever lost."""

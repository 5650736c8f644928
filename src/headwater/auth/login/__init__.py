"""Who is asking: credentials and tokens, believed for a few seconds so that a request costs no trip."""

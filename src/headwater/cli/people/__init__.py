"""Who may do what in a lake, for `hw auth`: asked of a server, or of the store of a lake that is here."""

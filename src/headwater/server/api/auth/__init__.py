"""Users, groups, policies and credentials over the REST API, and logging in."""

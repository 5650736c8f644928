"""Users, groups, policies and credentials as they are kept: `docs/iam.md` has the layout."""

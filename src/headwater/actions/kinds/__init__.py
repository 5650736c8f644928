"""The kinds of hooks: what each is told in an action file, and what it does when it runs."""

"""Timings, as ratios within one run. Budgets in round trips are tests; what takes how long is measured here."""

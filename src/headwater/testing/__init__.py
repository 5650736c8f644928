"""The test kit that ships: conformance suites for drivers, stores that count and fail, and the simulator.

It needs the extra `headwater[testing]`. Nothing in the product imports it.
"""

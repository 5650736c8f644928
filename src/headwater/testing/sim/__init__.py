"""The simulator: real `asyncio` code under virtual time, random scheduling and crashes, all from one seed.

    with Simulation(seed=7) as sim:
        sim.spawn("writer", writer(store), crash=0.01)
        sim.run()

`docs/simulator.md` tells how to write a scenario, and what a seed does and does not pin down.
"""

from headwater.testing.sim.errors import (
    Deadlock,
    LimitReached,
    NotCaught,
    NotDeterministic,
    SeedFailed,
    SimulationError,
)
from headwater.testing.sim.explore import Failure, Scenario, explore, first_failure, must_catch
from headwater.testing.sim.process import Process
from headwater.testing.sim.simulation import Simulation

__all__ = [
    "Deadlock",
    "Failure",
    "LimitReached",
    "NotCaught",
    "NotDeterministic",
    "Process",
    "Scenario",
    "SeedFailed",
    "Simulation",
    "SimulationError",
    "explore",
    "first_failure",
    "must_catch",
]

"""How a simulation ends when it does not end well. What an actor raises is raised as it is."""

from __future__ import annotations

from headwater.errors import HeadwaterError


class SimulationError(HeadwaterError):
    """The root of the simulator's errors; itself: the simulation was asked for something that it cannot do."""


class Deadlock(SimulationError):
    """Nothing is ready, no timer is set, and somebody still waits. The message says who, and where."""


class LimitReached(SimulationError):
    """The run took more steps, or more virtual time, than it was given. The message says who is where."""


class SeedFailed(SimulationError):
    """A scenario failed. The message holds the seed and the timeline; the cause is what the scenario raised."""


class NotCaught(SimulationError):
    """A guard was switched off, and no seed noticed: the guard is not needed, or the scenario does not test it."""


class NotDeterministic(SimulationError):
    """One seed gave two different runs: something in it comes from a clock, an id, a hash or another `Random`."""

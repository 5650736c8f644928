"""The real engine under simulation: actors on one lake over a bad network, and a checker of what they were promised.

    explore(scenario(), range(1000))    # nothing may be found
    hw sim --seeds 1000                 # the same, from a shell; a failing seed prints its timeline

`docs/protocol.md` has the promises, the guards that keep them, and the mutations that switch each guard off.
"""

from headwater.testing.sim.engine.mutations import MUTATIONS, Mutation
from headwater.testing.sim.engine.stories import STORIES, Story, scenario

__all__ = ["MUTATIONS", "STORIES", "Mutation", "Story", "scenario"]

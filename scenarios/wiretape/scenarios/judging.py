"""What is asked for that this version cannot do: said before anything is judged or run, so that it never passes unseen."""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.oracles import misfit
from wiretape.scenarios.config import Config
from wiretape.scenarios.model import Scenario
from wiretape.traces.errors import UsageError

__all__ = ["refuse_misfits", "refuse_unjudged"]


def refuse_unjudged(scenario: Scenario | None, config: Config) -> None:
    """UsageError where it states what this version does not look at, or names an environment that is not there."""
    if scenario is None:
        return
    config.environment_of(scenario)
    if fields := list(_unjudged(scenario)):
        listed = ", ".join(f"`{field}`" for field in fields)
        raise UsageError(
            f"{scenario.id}: this version does not judge {listed}, so nothing says whether the scenario holds. Take"
            f" {'it' if len(fields) == 1 else 'them'} out, and say in `oracles` what must hold of the whole run."
        )


def refuse_misfits(scenario: Scenario | None) -> None:
    """UsageError with a line for each oracle that does not exist or takes other parameters."""
    found = filter(None, (misfit(use) for use in scenario.oracles)) if scenario else ()
    if faults := [f"{scenario.id if scenario else ''}: {sentence}" for sentence in found]:
        raise UsageError("\n".join(faults))


def _unjudged(scenario: Scenario) -> Iterator[str]:
    """Fields that state an expectation, or change the run that is judged, and that nothing here acts upon."""
    yield from (f"turns[{at}].oracles" for at, turn in enumerate(scenario.turns or ()) if turn.oracles)
    yield from (name for name in ("checkpoints", "goals", "script") if getattr(scenario, name))
    yield from (f"faults.{name}.oracles" for name, faults in scenario.faults.items() if faults.oracles)

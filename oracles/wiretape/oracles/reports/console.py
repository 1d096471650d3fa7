"""What broke, in one screen, for people: each recording that did not pass with its verdicts and evidence, then the count.

All text goes through `escape.terminal` into rich's Text, which reads no markup. Colour is the caller's console's matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wiretape.oracles.base import Verdict
from wiretape.oracles.gate import Decision, Result
from wiretape.oracles.reports.escape import terminal

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render", "text"]

_STYLES = {"passed": "green", "failed": "bold red", "error": "bold red", "skipped": "yellow", "": "dim"}
_RECORDINGS = 8
"""How many are shown that broke, and how many others; of the rest the number."""
_LIMITS = ((2, 6, 4), (4, 3, 2))
"""(up to so many broken recordings, verdicts of each, pieces of evidence of each verdict); of more, one and one."""

type Line = tuple[str, str, str]
"""(style, the part that has it, the rest)."""


def render(decision: Decision, console: Console) -> None:
    """Prints on the caller's console."""
    from rich.text import Text  # noqa: PLC0415 - slow to import, and only a terminal needs it

    for style, head, rest in _lines(decision):
        parts = [part.encode(console.encoding, "backslashreplace").decode(console.encoding) for part in (head, rest)]
        console.print(Text.assemble((parts[0], _STYLES[style]), parts[1]), soft_wrap=True, highlight=False)


def text(decision: Decision) -> str:
    """The same without colour."""
    return "".join(f"{head}{rest}\n" for _, head, rest in _lines(decision))


def _lines(decision: Decision) -> Iterator[Line]:
    red = [result for result in decision.results if result.status in {"failed", "error"}]
    rest = [result for result in decision.results if result.status not in {"failed", "error"}]
    for result in rest[:_RECORDINGS]:
        yield _title(result)
    yield from _more(len(rest) - _RECORDINGS, "passed or skipped", "")
    verdicts, evidence = next((limits for most, *limits in _LIMITS if len(red) <= most), (1, 1))
    for result in red[:_RECORDINGS]:
        yield from _broken(result, verdicts, evidence)
    yield from _more(len(red) - _RECORDINGS, "failed", "")
    yield _summary(decision)


def _title(result: Result) -> Line:
    title = f"  {terminal(result.title, 100)}" if result.title else ""
    skipped = sum(verdict.status == "skipped" for verdict in result.verdicts)
    note = f"  ({terminal(result.reason)})" if result.status == "skipped" and result.reason else ""
    if result.status == "passed" and skipped:
        note = f"  ({skipped} of {len(result.verdicts)} oracles skipped)"
    return result.status, f"{result.status:<8}", f"{terminal(result.name, 100)}{title}{note}"


def _broken(result: Result, verdicts: int, evidence: int) -> Iterator[Line]:
    yield _title(result)
    yield "", f"  {terminal(result.path)}, risk {result.risk}", ""
    for line in (result.reason or "").splitlines():
        yield result.status, "  ", terminal(line)
    shown = [verdict for verdict in result.verdicts if verdict.status == "failed"]
    shown += [verdict for verdict in result.verdicts if verdict.status == "skipped"]
    for verdict in shown[:verdicts]:
        yield from _verdict(verdict, evidence)
    yield from _more(len(shown) - verdicts, "verdicts", "  ")


def _verdict(verdict: Verdict, evidence: int) -> Iterator[Line]:
    word = "" if verdict.status == "failed" else f"{verdict.status}: "
    yield verdict.status, f"  {terminal(verdict.oracle, 60)}: ", f"{word}{terminal(verdict.message)}{_steps(verdict)}"
    for line in verdict.evidence[:evidence]:
        yield "", f"    {terminal(line, 240)}", ""
    yield from _more(len(verdict.evidence) - evidence, "pieces of evidence", "    ")


def _steps(verdict: Verdict) -> str:
    if not verdict.steps or verdict.status != "failed":
        return ""
    more = ", …" if len(verdict.steps) > 6 else ""
    return f" (step{'' if len(verdict.steps) == 1 else 's'} {', '.join(map(str, verdict.steps[:6]))}{more})"


def _more(number: int, what: str, indent: str) -> Iterator[Line]:
    if number > 0:
        yield "", f"{indent}and {number} more {what}", ""


def _summary(decision: Decision) -> Line:
    counts = decision.counts
    number = counts.pop("recordings")
    below = sum(result.status == "failed" and not result.exit_code for result in decision.results)
    words = {
        "passed": counts["passed"],
        "failed": counts["failed"] - below,
        f"failed below --fail-on {decision.fail_on}": below,
        "skipped": counts["skipped"],
        "error" if counts["errors"] == 1 else "errors": counts["errors"],
    }
    told = ", ".join(f"{count} {word}" for word, count in words.items() if count)
    status = "passed" if decision.passed else "failed"
    recordings = f"{number} recording{'' if number == 1 else 's'}"
    why = f"; {decision.reason}" if decision.reason else ""
    return status, "gate " + status, f"  {recordings}{': ' if told else ''}{told}{why}"

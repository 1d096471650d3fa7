"""NAME.trace: a trace as text that people review in a pull request and `check` compares with the evidence.

A header of `name: value` lines, an empty line, then the body: sections by turn and thread, steps in blocks. Lines with `| `
before them are text as it was, `+ ` goes on with a line that was too long. What varies between two recordings of one behaviour
is left out as far as it can be: times, ports, tokens, ids (calls go by number in the order of this text), and the order in
which calls that were asked for together were carried out. System prompt, parameters and offered tools stand where they change.

Recordings are hostile: every character that could begin a line, move a cursor or turn the writing direction is written as
`\\u{hex}`, so that what is said in a recording never looks like what wiretape says about it.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.traces.cost import Prices
from wiretape.traces.decoders import VERSIONS as DECODER_VERSIONS
from wiretape.traces.exports.escape import block, line
from wiretape.traces.exports.order import Section, sections
from wiretape.traces.exports.recorded import Recorded
from wiretape.traces.exports.wording import Words
from wiretape.traces.types import FinalAnswer, Trace

__all__ = ["VERSION", "body", "export", "header", "render"]

VERSION = 2
_FORMAT = "wiretape-trace"


def export(recorded: Recorded, prices: Prices) -> Iterator[bytes]:
    yield render(recorded.trace(), evidence=recorded.digest()).encode("utf-8", "replace")


def render(trace: Trace, *, evidence: str) -> str:
    """`evidence` is the digest of the recording. Ends with a line feed; the same trace gives the same text."""
    return "\n".join([*_header(trace, evidence), "", *_body(trace)]) + "\n"


def header(text: str) -> dict[str, str]:
    """The header's fields; `wiretape-trace` is the version of this layout. Empty where the text is no trace."""
    lines = text.replace("\r\n", "\n").partition("\n\n")[0].split("\n")
    if not lines[0].startswith(f"{_FORMAT}: "):
        return {}
    return {name: value for name, _, value in (field.partition(": ") for field in lines)}


def body(text: str) -> str:
    """What the header is not: the behaviour."""
    return text.replace("\r\n", "\n").partition("\n\n")[2]


def _header(trace: Trace, evidence: str) -> Iterator[str]:
    yield f"{_FORMAT}: {VERSION}"
    yield f"recording: {line(trace.recording.name)}"
    yield f"evidence: {line(evidence)}"
    yield f"decoders: {', '.join(f'{name} {version}' for name, version in sorted(DECODER_VERSIONS.items()))}"


def _body(trace: Trace) -> Iterator[str]:
    words = Words()
    for section in sections(trace):
        yield _title(section)
        yield ""
        for step in section.steps:
            yield from words.of(step)
            yield ""
    answers = [step for step in trace.steps if isinstance(step, FinalAnswer)]
    yield "== final answer" if answers else "== no final answer"
    for answer in answers[-1:]:
        yield from block(answer.text)


def _title(section: Section) -> str:
    turn = f"turn {section.turn}" if section.turn else "outside any turn"
    return f"== {turn}{f', thread {section.thread}' if section.thread else ''}"

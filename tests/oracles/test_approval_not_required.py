from __future__ import annotations

import pytest


def test_it_passes_where_approvals_were_observed_and_none_was_seen(trace, call, verdict):
    said = verdict("approval-not-required", trace(call("search")))
    assert (said.status, said.message) == ("passed", "no approval was asked for or given")


@pytest.mark.parametrize("approvals", ["complete", "partial", "none"])
def test_it_fails_where_somebody_was_asked(approvals, trace, asked, decided, verdict):
    made = trace(asked("refund", source="event"), decided("refund", False), decided(), approvals=approvals)
    said = verdict("approval-not-required", made)
    assert (said.status, said.message) == ("failed", "an approval was asked for or given (3 steps)")
    assert said.evidence == (
        "asked for: refund (seen by event)",
        "refused: refund (seen by wire)",
        "given: an unnamed tool (seen by wire)",
    )
    assert said.steps == (1, 2, 3)


@pytest.mark.parametrize("approvals", ["partial", "none"])
def test_it_is_skipped_with_the_reason_where_approvals_were_not_observed(approvals, trace, verdict):
    said = verdict("approval-not-required", trace(approvals=approvals))
    assert said.status == "skipped"
    assert said.message.startswith("no approval was asked for or given, but approvals were ")


def test_it_fails_with_a_sentence_on_wrong_parameters(trace, verdict):
    said = verdict("approval-not-required", trace(), tool="x")
    assert said.message == 'approval-not-required: unknown parameter "tool": it takes no parameters'

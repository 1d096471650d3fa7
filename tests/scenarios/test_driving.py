from __future__ import annotations

import pytest

NO_SHELL = 'expected a list of words such as [python, agent.py], as there is no shell to split it, got "python agent.py"'


@pytest.mark.parametrize(
    ("agent", "problems"),
    [
        ("{}", ["`via: command` needs `command`"]),
        ("{via: stdio}", ["`via: stdio` needs `command`"]),
        ("{via: http, command: [x]}", ["`via: http` needs `url`"]),
        ("{via: openai}", ["`via: openai` needs `url`"]),
        ("{via: mcp}", ["`via: mcp` needs `tool`", "`via: mcp` needs the server: a `url` or a `command`"]),
        ("{via: python}", ["`via: python` needs `target`"]),
        ("{command: []}", ["expected at least 1 of them, got an empty list"]),
        ("{command: python agent.py}", [NO_SHELL]),
        ("{via: python, target: agent.py}", ['expected module:function, got "agent.py"']),
        ("{via: shell, command: [x]}", ['expected one of command, stdio, http, openai, mcp, python, scripted, got "shell"']),
        ("{command: [x], env: {PORT: 80}}", ["expected text, got the number 80; put it in quotes"]),
        ("{command: [x], latest: 1.4}", ["expected text, got the number 1.4; put it in quotes"]),
    ],
)  # fmt: skip
def test_it_refuses_an_agent_that_nobody_can_reach(agent, problems, faults):
    assert [problem for _, _, problem in faults(f"agent: {agent}")] == problems


@pytest.mark.parametrize(
    "agent",
    [
        "{command: [x]}",
        "{via: http, url: 'http://x'}",
        "{via: mcp, command: [x], tool: chat}",
        "{via: python, target: 'a.b:c'}",
        "{via: scripted}",
    ],
)  # fmt: skip
def test_it_takes_an_agent_that_can_be_reached(agent, scenario):
    assert scenario(f"agent: {agent}").agent is not None


def test_it_refuses_goals_that_nobody_can_reach(faults):
    found = faults("""\
        goals:
          graph: {a: [b], b: [a, gone]}
          details:
            - {name: a, tool: t, keywords: [x]}
            - {name: b}
    """)
    assert found == [
        (6, "goals.details[0]", "expected one of tool, keywords, judge; got tool and keywords"),
        (7, "goals.details[1]", "expected one of tool, keywords, judge; got none"),
    ]


def test_it_refuses_a_graph_of_goals_that_is_none(faults):
    found = faults(
        "goals:\n  graph: {a: [b], b: [a, gone]}\n  details: [{name: a, tool: t}, {name: b, tool: t}, {name: B, tool: t}]"
    )
    assert [(field, problem) for _, field, problem in found] == [
        ("goals.graph.a", "the goal a comes before itself"),
        ("goals.graph.b", "the goal gone has no entry in `details`"),
        ("goals.details[2].name", "there is a goal called B already"),
    ]


def test_it_reads_a_scripted_trace_by_the_kinds_of_steps(scenario, faults):
    script = scenario(
        "script: {steps: [{kind: user_message, text: hi}, {kind: tool_call, tool: t, arguments: {a: 1}}], answer: done}"
    ).script
    assert [step.kind for step in script.steps] == ["user_message", "tool_call"]
    assert script.steps[1].arguments == {"a": 1}
    found = faults("script:\n  steps:\n    - {kind: toolcall, tool: t}\n    - {kind: tool_call, tol: t}\n    - {tool: t}")
    assert [(line, field, problem.split(",")[0]) for line, field, problem in found] == [
        (5, "script.steps[0]", "expected one of user_message"),
        (6, "script.steps[1].tol", "there is no such field; did you mean tool?"),
        (6, "script.steps[1].tool", "the field is required"),
        (7, "script.steps[2]", "expected a mapping with the field kind"),
    ]

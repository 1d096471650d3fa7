from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from wiretape.scenarios.files import parse_scenario
from wiretape.traces.errors import InvalidFile

WHOLE = """\
wiretape: 1
id: refund.partial
title: Refunds one item after approval
description: The shop's most used path
risk: high
tags: [tool-use, approval, regression]
recording: refund
agent:
  via: stdio
  command: [python, agent.py]
  cwd: ..
  env: {SHOP_DB: "{{tmp}}/shop.db", OPENAI_API_KEY: "${OPENAI_API_KEY}"}
  options: {model: gpt-5-mini}
  version: auto
  latest: "1.4"
  versions: {"1.4": {}, draft: {command: [python, agent.py, --draft]}}
environment: staging
limits: {timeout: 5m, turn_timeout: 60s, max_turns: 20}
turns:
  - input: "Refund the mug in A-17, note {{run}}"
    attachments: [{type: image, source: fixtures/mug.png}]
    options: {metadata: {channel: chat}}
    oracles: [{oracle: tool-called, tool: get_order, args: {order: A-17}}]
  - input: "Yes"
    oracles: [{oracle: final-answer-contains, value: refunded}]
on_missing_input: skip
interactive: {enabled: false, timeout: 5m}
capture:
  ignore: ["127.0.0.1:6333"]
  noise: [telemetry.example.com]
  redact: [{header: x-shop-key}, {json: $.customer.email}, {env: SHOP_TOKEN}]
match:
  level: rebound
  strict: true
  volatile: [{url: "*/chat/completions", json: $.metadata.session}]
  pace: recorded
observe:
  complete: [tools, approvals]
  approvals: [{tool: ask_user, decision: $.approved}]
  skills: [{tool: Skill, arg: skill}]
  state: [{tool: refund, object: refund, name: order}]
tools: {get_order: read-only, refund: destructive, ask_user: read-only}
answer: {thread: {tools_include: refund}, tools: [final_result]}
probes:
  - {id: ledger, before: true, http: {url: "http://127.0.0.1:9000/refunds/{{run}}"}, exists: {status: 200}}
  - {id: db, command: [sqlite3, shop.db, "select 1"], exists: {exit_code: 0}}
  - {id: mcp, mcp: {url: "http://127.0.0.1:9001/mcp", tool: find, args: {id: 1}}, exists: {json: $.found}}
mocks:
  - id: orders-down
    enabled: false
    where: mcp
    match: {server: shop, tool: get_order}
    faults: [{error: {status: 429, message: too many requests, retry_after: 30}}]
  - id: small
    match: {upstream: shop, path: "/v1/refunds*"}
    cases: [{when: [{arg: amount, less: 100}], answer: {json: {refund: "{{uuid}}"}}}]
    otherwise: fail
faults:
  flaky-orders: {rules: [orders-down], oracles: [{oracle: no-error}, {oracle: tool-called, tool: refund, times: {at_most: 1}}]}
oracles:
  - {oracle: tool-order, first: get_order, then: refund}
  - {oracle: no-write-before, tool: ask_user, risk: critical}
  - {oracle: judge, criteria: "Polite; names the amount", threshold: 0.8}
judge: {model: gpt-5-mini, on_missing: skip}
runs: {count: 1, stable: 100}
"""
"""Every part of the format that can stand in one scenario."""


@pytest.fixture
def whole():
    return WHOLE


@pytest.fixture
def scenario():
    """A scenario of the given further lines."""
    return lambda text="": parse_scenario("wiretape: 1\nid: x\n" + dedent(text), Path("x.yaml")).scenario


@pytest.fixture
def faults():
    """(line, field, problem) of each fault of the given further lines, which begin on line 3."""

    def load(text):
        with pytest.raises(InvalidFile) as caught:
            parse_scenario("wiretape: 1\nid: x\n" + dedent(text), Path("x.yaml"))
        return [(each.line, each.field, each.problem) for each in (caught.value, *caught.value.also)]

    return load

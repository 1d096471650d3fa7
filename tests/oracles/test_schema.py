from __future__ import annotations

import http.server
import threading

import pytest

from wiretape.oracles.schema import CannotJudge, problems


def chain(length: int) -> dict:
    """Definitions each of which names the next one twice: 2 ** length ways to the end."""
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{length}": {"type": "object"}}}


@pytest.mark.parametrize("schema", [{}, True, {"type": "object"}, {"$schema": "https://example.com/unknown", "type": "object"}])
def test_it_finds_nothing_wrong(schema):
    assert problems(schema, {"a": 1}) == ()


def test_it_tells_what_is_wrong_nearest_to_the_root_first():
    schema = {"properties": {"a": {"properties": {"b": {"type": "integer"}}}}, "required": ["c"]}
    assert problems(schema, {"a": {"b": "x"}}) == ("$: 'c' is a required property", "$.a.b: 'x' is not of type 'integer'")


def test_it_finds_false_wrong_of_everything():
    assert problems(False, {}) == ("$: False schema does not allow {}",)


def test_it_judges_by_the_draft_that_the_schema_names():
    tuple_form = {"items": [{"type": "integer"}, {"type": "string"}]}
    assert problems({"$schema": "http://json-schema.org/draft-07/schema#", **tuple_form}, [1, 2]) != ()
    with pytest.raises(CannotJudge, match="not a valid JSON Schema"):
        problems(tuple_form, [1, 2])


def test_it_follows_references_within():
    schema = {"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}}}
    assert problems({**schema, "$ref": "#/$defs/node"}, {"next": {"next": {"n": "x"}}}) != ()


def test_it_fetches_nothing():
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/schema.json"
    with pytest.raises(CannotJudge, match="which is not part of it"):
        problems({"$ref": address}, {})
    server.shutdown()
    server.server_close()
    assert asked == []


@pytest.mark.parametrize("ref", ["#/$defs/missing", "file:///etc/hostname", "other.json"])
def test_it_cannot_judge_a_reference_that_leads_nowhere(ref):
    with pytest.raises(CannotJudge, match="which is not part of it"):
        problems({"$ref": ref}, {})


@pytest.mark.parametrize("schema", [{"type": "OBJECT"}, {"properties": []}, [], "object", 3, {"pattern": "("}])
def test_it_cannot_judge_what_is_no_schema(schema):
    with pytest.raises(CannotJudge):
        problems(schema, {})


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}])
def test_it_cannot_judge_a_schema_without_an_end(schema):
    with pytest.raises(CannotJudge, match="cannot be followed to its end"):
        problems(schema, {})


def test_it_judges_references_that_multiply_a_little_and_gives_up_on_many():
    assert problems(chain(5), {}) == ()
    with pytest.raises(CannotJudge, match="takes more than"):
        problems(chain(40), {})


def test_it_gives_up_where_schema_and_arguments_multiply_together():
    schema = {"allOf": [{"properties": {"a": {"$ref": "#"}}}] * 2}
    arguments: dict = {}
    for _ in range(40):
        arguments = {"a": arguments}
    with pytest.raises(CannotJudge, match="takes more than"):
        problems(schema, arguments)


def test_it_does_not_let_a_schema_leave_its_draft_halfway():
    with pytest.raises(CannotJudge, match="changes its draft"):
        problems({"allOf": [{"$schema": "http://json-schema.org/draft-07/schema#"}]}, {})
    assert problems({"properties": {"$schema": {"type": "string"}}}, {"$schema": "x"}) == ()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", "00000000-0000-0000-0000-000000000000"),
        (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "somebody.with.a.long.name@mail.example.com"),
        (r"^\d{4}-\d{2}-\d{2}(T.*)?$", "2026-01-05T10:00:00Z"),
        (r"^[a-z]+(-[a-z]+)*$", "a-short-slug"),
        (r"\S", "x" * 10_000),
        (r"[(+*]+\(\*", "(+*" * 20 + "(*"),
    ],
)
def test_it_tries_the_patterns_that_people_write(pattern, text):
    assert problems({"pattern": pattern}, text) == ()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^(a+)+$", "a" * 60 + "!"),
        (r"^(a|a)*$", "a" * 60 + "!"),
        (r"^((a)+b?)*$", "a" * 60 + "!"),
        (r"^(?:a{1,9}){2,}$", "a" * 60 + "!"),
        (r"^a*a*a*a*a*a*b$", "a" * 200),
        (r"a+b", "a" * 100_000),
    ],
)
def test_it_does_not_try_a_pattern_that_could_take_hours(pattern, text):
    with pytest.raises(CannotJudge, match="could take hours"):
        problems({"pattern": pattern}, text)
    with pytest.raises(CannotJudge, match="could take hours"):
        problems({"patternProperties": {pattern: {}}}, {text: 1})
    with pytest.raises(CannotJudge, match="could take hours"):
        problems({"additionalProperties": False, "patternProperties": {pattern: {}}}, {text: 1})

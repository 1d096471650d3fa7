"""The content of messages in its many forms."""

import hashlib

from wiretape.traces.decoders.contents import has_thinking, parts_of, said, system_before, texts_of
from wiretape.traces.decoders.values import asked, handed

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


def text(content, **more):
    return {"type": "text", "text": content, **more}


def test_it_gives_a_string_and_its_text_part_one_digest():
    marked = [text("Hi", cache_control={"type": "ephemeral"})]
    assert said("user", "Hi") == said("user", [text("Hi")])
    assert (
        said("user", "Hi").digest == said("user", marked).digest == said("user", [{"type": "input_text", "text": "Hi"}]).digest
    )


def test_it_gives_other_words_roles_calls_and_results_other_digests():
    made = [
        said("user", "Hi"),
        said("user", "Ho"),
        said("assistant", "Hi"),
        said("assistant", "Hi", asked=[asked("f", "c", "{}")]),
        said("assistant", "Hi", asked=[asked("g", "c", "{}")]),
        said("user", "Hi", handed=[handed("c", "1")]),
        said("user", "Hi", handed=[handed("c", "1", is_error=True)]),
    ]
    assert len({each.digest for each in made}) == len(made)


def test_it_leaves_thinking_out_of_digest_and_text():
    spoken = said("assistant", [THOUGHT, text("Hi")])
    assert (spoken.text, spoken.digest) == ("Hi", said("assistant", "Hi").digest)
    assert has_thinking([THOUGHT])
    assert not has_thinking([text("Hi")])


def test_it_joins_the_texts_of_an_assistant_and_sets_those_of_others_apart():
    assert said("assistant", [text("a"), text("b")]).text == "ab"
    assert said("user", [text("a"), text("b")]).text == "a\nb"


def test_it_lists_attachments_by_digest():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}}
    assert said("user", [text("see"), image]).attachments == ("image_url sha256:" + hashlib.sha256(b"abc").hexdigest(),)


def test_it_keeps_parts_that_it_does_not_know_in_the_digest():
    assert said("user", [{"type": "future", "a": 1}]).digest != said("user", [{"type": "future", "a": 2}]).digest


def test_it_survives_content_of_any_shape():
    odd = [None, 3, "a", [], {"type": []}, {"type": {}, "text": "b"}, {"text": 5}, {"type": "text"}, {"text": "c"}]
    assert texts_of(odd) == ["a", "c"]
    assert parts_of(None) == parts_of("") == []
    assert said("", odd).text == "a\nc"


def test_it_takes_the_system_messages_at_the_start():
    messages = [
        {"role": "system", "content": "a"},
        {"role": "developer", "content": [text("b")]},
        {"role": "user"},
        {"role": "system"},
    ]
    assert system_before(messages) == ([text("a"), text("b")], messages[2:])

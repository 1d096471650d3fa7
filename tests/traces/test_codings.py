"""Bodies without their content codings, and with them again."""

import gzip
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from wiretape.traces.codings import codings, redo, undo
from wiretape.traces.types import Headers

TEXT = b'{"text": "' + b"plain words, " * 500 + b'"}'
RAW = zlib.compressobj(wbits=-15)
CODED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT),
    "GZIP": gzip.compress(TEXT),
    "deflate": zlib.compress(TEXT),
    "deflate ": RAW.compress(TEXT) + RAW.flush(),
    "br": brotli.compress(TEXT),
    "zstd": zstd.compress(TEXT),
    "gzip, br": brotli.compress(gzip.compress(TEXT)),
    "identity": TEXT,
    "zstd,identity": zstd.compress(TEXT),
}


def label(names: str) -> Headers:
    return (("Content-Type", "application/json"), ("Content-Encoding", names))


@pytest.mark.parametrize("names", CODED)
def test_it_takes_each_coding_off(names):
    assert undo(CODED[names], label(names)) == TEXT


@pytest.mark.parametrize("names", [n for n in CODED if n != "identity"])
def test_it_gives_nothing_for_a_body_that_was_cut(names):
    assert undo(CODED[names][:-3], label(names)) is None


@pytest.mark.parametrize("names", [n for n in CODED if n != "identity"])
def test_it_reads_the_beginning_of_a_cut_body_where_asked(names):
    incompressible = bytes(range(256)) * 400
    whole = redo(incompressible, label(names))
    read = undo(whole[: len(whole) * 2 // 3], label(names), partial=True)
    assert read is not None
    assert incompressible.startswith(read)


@pytest.mark.parametrize("names", ["foo", "gzip, foo", "aws-chunked", "gzip,gzip,gzip,gzip,gzip"])
def test_it_gives_nothing_for_a_coding_it_does_not_know(names):
    assert undo(gzip.compress(TEXT), label(names)) is None


@pytest.mark.parametrize("names", ["gzip", "deflate", "br", "zstd"])
def test_it_gives_nothing_for_bytes_that_are_not_what_the_label_says(names):
    assert undo(TEXT, label(names)) is None


@pytest.mark.parametrize("names", ["gzip", "deflate", "br", "zstd"])
def test_it_stops_at_the_limit(names):
    bomb = redo(bytes(3 * 2**20), label(names))
    assert undo(bomb, label(names), limit=2**20) is None
    assert undo(bomb, label(names), limit=2**20, partial=True) == bytes(2**20)
    assert undo(bomb, label(names), limit=3 * 2**20) == bytes(3 * 2**20)


def test_it_reads_members_and_frames_one_after_another():
    assert undo(gzip.compress(b"a") + gzip.compress(b"b") + b"\0\0", label("gzip")) == b"ab"
    assert undo(zstd.compress(b"a") + zstd.compress(b"b"), label("zstd")) == b"ab"
    assert undo(gzip.compress(b"a") + b"rest", label("gzip")) is None


def test_it_leaves_a_body_without_coding_alone_whatever_its_size():
    assert undo(TEXT, (), limit=1) is TEXT


@pytest.mark.parametrize("names", ["gzip", "deflate", "br", "zstd"])
def test_it_takes_no_body_under_a_label_as_empty(names):
    assert undo(b"", label(names)) == b""


def test_it_lists_codings_as_applied_from_all_fields():
    headers = (("content-encoding", "Gzip , identity"), ("X", "y"), ("CONTENT-ENCODING", "br"))
    assert codings(headers) == ("gzip", "br")


@given(body=st.binary(max_size=4000), names=st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "x-gzip"]), max_size=3))
def test_it_puts_on_what_it_takes_off(body, names):
    headers = label(", ".join(names))
    assert undo(redo(body, headers), headers) == body


@given(body=st.binary(min_size=1, max_size=2000), name=st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_it_puts_on_a_coding_without_an_end(body, name):
    cut = redo(body, label(name), whole=False)
    assert undo(cut, label(name)) is None
    assert undo(cut, label(name), partial=True) == body


@given(
    body=st.binary(min_size=1, max_size=300), name=st.sampled_from(["gzip", "deflate", "br", "zstd"]), cut=st.integers(0, 300)
)
def test_it_never_raises_on_bytes_from_outside(body, name, cut):
    damaged = redo(body, label(name))[:cut] + body
    assert isinstance(undo(damaged, label(name), partial=True), bytes)


def test_it_says_which_coding_it_cannot_put_on():
    with pytest.raises(ValueError, match="foo"):
        redo(b"x", label("foo"))

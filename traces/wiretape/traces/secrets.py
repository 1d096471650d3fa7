"""Which names and which shapes are secrets: the tables that the redactor goes by (INTERFACE.md, fine print 17).

Names are compared without case, `-`, `_`, `.` and spaces. Shapes are those that providers document for their keys; a shape
must be long enough that no ordinary word has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["MARK", "PLACEHOLDER", "SHAPES", "is_secret_header", "is_secret_name", "is_secret_parameter", "shaped"]

MARK = "wtredacted"
"""Every placeholder holds this word and its number."""

PLACEHOLDER = re.compile(rb"wtredacted\d{4,}")

_NAMES = frozenset(
    {
        "accesskey",
        "accesskeyid",
        "accesstoken",
        "apikey",
        "apitoken",
        "authorization",
        "authtoken",
        "awsaccesskeyid",
        "awssecretaccesskey",
        "awssessiontoken",
        "bearertoken",
        "clientsecret",
        "idtoken",
        "jwt",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "refreshtoken",
        "secret",
        "secretaccesskey",
        "secretkey",
        "sessiontoken",
        "token",
    }
)
_ENDINGS = ("accesstoken", "apikey", "authtoken", "clientsecret", "password", "privatekey", "refreshtoken", "secretkey")

_HEADERS = frozenset(
    {
        "authorization",
        "cookie",
        "proxyauthorization",
        "setcookie",
        "xamzsecuritytoken",
        "xgoogapikey",
        "xgoogiamauthorizationtoken",
        "xvaulttoken",
    }
)

_PARAMETERS = frozenset({"key", "sig", "signature", "xamzcredential", "xamzsecuritytoken", "xamzsignature", "xgoogsignature"})

_WORD = rb"(?<![A-Za-z0-9_-])"
_SECRET = rb"(?!wtredacted)"

SHAPES: tuple[tuple[str, re.Pattern[bytes]], ...] = tuple(
    (prefix, re.compile(_WORD + pattern))
    for prefix, pattern in (
        ("sk-", rb"sk-" + _SECRET + rb"[A-Za-z0-9_-]{16,}"),
        ("AIza", rb"AIza" + _SECRET + rb"[A-Za-z0-9_-]{30,}"),
        ("ya29.", rb"ya29\." + _SECRET + rb"[A-Za-z0-9_-]{8,}"),
        ("gsk_", rb"gsk_" + _SECRET + rb"[A-Za-z0-9]{20,}"),
        ("ghp_", rb"gh[pousr]_" + _SECRET + rb"[A-Za-z0-9]{20,}"),
        ("github_pat_", rb"github_pat_" + _SECRET + rb"[A-Za-z0-9_]{20,}"),
        ("xoxb-", rb"xox[abeprs]-" + _SECRET + rb"[A-Za-z0-9-]{10,}"),
        ("hf_", rb"hf_" + _SECRET + rb"[A-Za-z0-9]{30,}"),
        ("AKIA", rb"(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
        (
            "eyJhbGciOiJub25lIn0.eyJyZWRhY3RlZCI6MX0.",
            rb"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\." + _SECRET + rb"[A-Za-z0-9_-]{8,}",
        ),
        ("", rb"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----"),
    )
)
"""(what a placeholder keeps at its start, the shape). A JSON Web Token stays one of three parts."""

_LETTERS: dict[str, tuple[bytes, ...]] = {
    "ghp_": (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
    "xoxb-": (b"xox",),
    "AKIA": (b"AKIA", b"ASIA"),
    "eyJhbGciOiJub25lIn0.eyJyZWRhY3RlZCI6MX0.": (b"eyJ",),
    "": (b"-----BEGIN ",),
}
"""What stands in each secret of a shape, where that is not its prefix."""


_BY_LETTERS = tuple((_LETTERS.get(prefix, (prefix.encode(),)), shape) for prefix, shape in SHAPES)


def shaped(data: bytes) -> Iterator[re.Match[bytes]]:
    """What has the shape of a secret. To look for its letters first is a hundred times quicker than for the shape."""
    for letters, shape in _BY_LETTERS:
        for each in letters:
            if each in data:
                yield from shape.finditer(data)
                break


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()


def is_secret_name(name: str) -> bool:
    """Of a JSON member or a form field."""
    plain = _plain(name)
    return plain in _NAMES or plain.endswith(_ENDINGS)


def is_secret_header(name: str) -> bool:
    return _plain(name) in _HEADERS or is_secret_name(name)


def is_secret_parameter(name: str) -> bool:
    """Of a URL's query."""
    return _plain(name) in _PARAMETERS or is_secret_name(name)

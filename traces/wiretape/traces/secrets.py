"""Which names and which shapes are secrets: the tables that the redactor goes by (INTERFACE.md, fine print 17).

Names are compared without case, `-`, `_`, `.` and spaces. Most name a secret whatever its value; `key` and `token` are words of
ordinary data too (a lookup's key, a currency's token), so their value must look like a credential. Shapes are those that
providers document for their keys; a shape must be long enough that no ordinary word has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "ANYONES",
    "MARK",
    "PLACEHOLDER",
    "SHAPES",
    "STRICT_SHAPES",
    "Shape",
    "is_secret_header",
    "is_secret_member",
    "is_secret_name",
    "is_secret_parameter",
    "is_signature",
    "looks_like_credential",
    "unnumbered",
]

MARK = "wtredacted"
"""Every placeholder holds this word and its number."""

ANYONES = f"{MARK}0000"
"""The placeholder of what differs from request to request and says nothing: signatures, and a URL's user information."""


@dataclass(frozen=True, slots=True)
class Shape:
    kept: str
    """What a placeholder keeps at its start."""
    starts: tuple[bytes, ...]
    """Every secret of the shape begins with one of these."""
    pattern: re.Pattern[bytes]
    """The whole."""


_WORD = rb"(?<![A-Za-z0-9_-])"


def _shape(kept: str, starts: str, rest: bytes) -> Shape:
    """`rest` follows any of the starts, which are parted by spaces."""
    beginnings = tuple(each.encode() for each in starts.split())
    either = b"|".join(map(re.escape, beginnings))
    return Shape(kept, beginnings, re.compile(_WORD + b"(?:" + either + b")(?!" + MARK.encode() + b")" + rest))


_JWT = "eyJhbGciOiJub25lIn0.eyJyZWRhY3RlZCI6MX0."
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----")

SHAPES: tuple[Shape, ...] = (
    _shape("sk-", "sk-", rb"[A-Za-z0-9_-]{16,}"),
    _shape("AIza", "AIza", rb"[A-Za-z0-9_-]{30,}"),
    _shape("ya29.", "ya29.", rb"[A-Za-z0-9_-]{8,}"),
    _shape("gsk_", "gsk_", rb"[A-Za-z0-9]{20,}"),
    _shape("ghp_", "ghp_ gho_ ghu_ ghr_ ghs_", rb"[A-Za-z0-9]{20,}"),
    _shape("github_pat_", "github_pat_", rb"[A-Za-z0-9_]{20,}"),
    _shape("xoxb-", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs-", rb"[A-Za-z0-9-]{10,}"),
    _shape("hf_", "hf_", rb"[A-Za-z0-9]{30,}"),
    _shape("AKIA", "AKIA ASIA", rb"[0-9A-Z]{16}(?![A-Za-z0-9])"),
    _shape(_JWT, "eyJ", rb"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.(?!" + MARK.encode() + rb")[A-Za-z0-9_-]{8,}"),
    Shape("", (b"-----BEGIN ",), _PRIVATE_KEY),
)
"""A JSON Web Token stays one of three parts."""

STRICT_SHAPES: tuple[Shape, ...] = (
    _shape("glpat-", "glpat- gldt- glrt-", rb"[A-Za-z0-9_-]{20,}"),
    _shape("sk_live_", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", rb"[A-Za-z0-9]{16,}"),
    _shape("SG.", "SG.", rb"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _shape("npm_", "npm_", rb"[A-Za-z0-9]{30,}"),
    _shape("pypi-", "pypi-", rb"[A-Za-z0-9_-]{40,}"),
    _shape("xai-", "xai- pplx- lin_api_ ntn_ secret_ dop_v1_ shpat_ shpss_ sq0csp- sq0atp-", rb"[A-Za-z0-9_-]{20,}"),
    _shape("", "dapi", rb"[0-9a-f]{32}"),
    _shape("r8_", "r8_", rb"[A-Za-z0-9]{30,}"),
    _shape("xapp-", "xapp-", rb"[A-Za-z0-9-]{20,}"),
)
"""Searched for by `strict` besides: keys of other services, after the patterns of detect-secrets and gitleaks."""

_KEPT = sorted({shape.kept for shape in SHAPES + STRICT_SHAPES if shape.kept}, key=len, reverse=True)
PLACEHOLDER = re.compile(b"(?:" + b"|".join(re.escape(kept.encode()) for kept in _KEPT) + b")?" + MARK.encode() + rb"(\d{4,})")
"""Whole, with what it keeps of its secret's shape; its one group is the number."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NAMES = frozenset(
    _words(
        """
        accesskey accesskeyid accesstoken accountkey apikey apitoken authorization authtoken awsaccesskeyid awssecretaccesskey
        awssessiontoken bearertoken clientsecret idtoken jwt passphrase passwd password privatekey privatetoken refreshtoken
        secret secretaccesskey secretkey sessiontoken subscriptionkey token xamzsecuritytoken
        """
    )
)
_ENDINGS = _words(
    """
    accesskey accesstoken apikey apitoken authtoken bearertoken passphrase passwd password privatekey privatetoken
    refreshtoken secret secretkey sessiontoken subscriptionkey
    """
)
_SUSPICIOUS = re.compile(r"auth|cookie|credential|key|nonce|pass|private|pwd|secret|session|signature|token")

_HEADER_ENDINGS = _words("auth authorization cookie credential credentials key passwd password secret signature token")
_OPEN_HEADERS = _words("cachekey idempotencykey secwebsocketkey surrogatekey xcachekey xidempotencykey xsurrogatekey")
"""They end as credentials do, and are none."""

_SIGNATURES = _words("sig signature xamzcredential xamzsignature xgoogcredential xgoogsignature")


def unnumbered(data: bytes) -> bytes:
    """With all placeholders alike."""
    return PLACEHOLDER.sub(MARK.encode(), data)


@lru_cache(4096)
def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()


@lru_cache(4096)
def is_secret_name(name: str) -> bool:
    """Whether a member, field or option of this name may hold a secret."""
    plain = _plain(name)
    return plain in _NAMES or plain.endswith(_ENDINGS)


def is_secret_member(name: str, value: str, *, strict: bool = False) -> bool:
    """Of a JSON member or a form field. `strict`: also what looks like a credential under a name that only suggests one."""
    plain = _plain(name)
    if plain == "token":
        return strict or bool(_TOKEN.fullmatch(value))
    if strict and _SUSPICIOUS.search(plain) and looks_like_credential(value):
        return True
    return is_secret_name(name)


def is_secret_parameter(name: str, value: str, *, strict: bool = False) -> bool:
    """Of a URL's query."""
    if _plain(name) == "key":
        return strict or looks_like_credential(value)
    return is_signature(name) or is_secret_member(name, value, strict=strict)


def is_signature(name: str) -> bool:
    """Of a URL's query: a part of what signs this one request."""
    return _plain(name) in _SIGNATURES


def is_secret_header(name: str) -> bool:
    plain = _plain(name)
    return plain.endswith(_HEADER_ENDINGS) and plain not in _OPEN_HEADERS


_TOKEN = re.compile(r"(?=\S*\d)\S{8,}|\S{20,}")
"""What stands under the name `token`, unless it is a word of the business: a coin, a kind, a short code."""

_RUN = re.compile(r"[A-Za-z0-9]{8,}")
_CHANGE = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")


def looks_like_credential(value: str) -> bool:
    """At least 12 characters without white space, among them a run of 8 that goes from letters to digits or back twice, or
    one of 20 with a letter in it. Words, numbers, and words with a number at their end do not."""
    if len(value) < 12 or re.search(r"\s", value):
        return False
    runs = _RUN.findall(value)
    return any(len(_CHANGE.findall(run)) > 1 or (len(run) >= 20 and not run.isdecimal()) for run in runs)

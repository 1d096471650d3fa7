"""Which values of an environment are secrets: pure, so that the redactor can know them before the child starts.

A name says that its value is meant to be secret; the value must then look like one, since everything found here is replaced
wherever it stands in the traffic: MAX_TOKENS=4096, TOKENIZERS_PARALLELISM=true, SSH_AUTH_SOCK=/run/… and API_KEY=disabled must
not tear holes into a recording. A URL's password is a secret under any name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["MIN_LENGTH", "secret_values"]

MIN_LENGTH = 8
"""A shorter value is found in ordinary text by chance."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STRONG = _words(
    """
    APIKEY AUTHORIZATION AUTHTOKEN BEARER CREDENTIAL CREDENTIALS CREDS JWT PASS PASSPHRASE PASSWD PASSWORD PASSWORDS
    PWD SECRET SECRETS TOKEN
    """
)
_STRONG_ENDINGS = ("APIKEY", "PASSWORD", "PASSWD", "SECRET", "TOKEN", "SECRETKEY", "ACCESSKEY", "PASSPHRASE")
_STRONG_KEYS = _words("ACCESS API ENCRYPTION LICENSE MASTER PRIVATE SECRET SIGNING SUBSCRIPTION")
_WEAK = _words("AUTH COOKIE COOKIES DSN KEY KEYS PAT PIN SAS SIGNATURE TOKENS")
_ABOUT = _words(
    """
    ALG ALGO ALGORITHM AUDIENCE BACKEND BUDGET CLASS COUNT DIR DIRECTORY ENABLED ENDPOINT EXPIRES EXPIRY FILE
    FILENAME FOLDER FORMAT HEADER HOST ISSUER LENGTH LIMIT METHOD MODE NAME PATH PLUGIN PORT PREFIX PROVIDER REALM
    REGION SCHEME SCOPE SCOPES SIZE SOCK SOCKET STORE TIMEOUT TTL TYPE URI URL USER USERNAME VERSION
    """
)
"""A name that ends so tells something about a secret: TOKEN_LIMIT, KEY_FILE, AUTH_METHOD."""

_WORDS = _words(
    """
    absolute anonymous automatic changeit changeme credentials default development disabled enabled external
    forbidden internal keychain keyring localhost no-key-required not-needed not-required not-used notneeded
    optional password placeholder preferred production read-only readonly required standard undefined unlimited
    username
    """
)
_WORDY = re.compile(r"[a-z]+([ _./:-][a-z]+)*|[A-Z]+([ _./:-][A-Z]+)*")
_NUMBER = re.compile(r"[-+]?[\d.,_:]+(e[-+]?\d+)?(ms|[smhdkKMG]|%)?")
_PAIRS = re.compile(r"([\w .]+=[^;]*)(;[\w .]+=[^;]*)*;?")
_PATH = re.compile(
    r"~|\.{1,2}/|[A-Za-z]:[\\/]|/[A-Z]?[a-z._-]+\d*([/:]|$)"
    r"|[\w./-]+\.(json|pem|key|p12|pfx|crt|jks|txt|ya?ml|toml|ini|env|sock)$"
)
"""Base64 may begin with a slash too, but hardly goes on with a word."""


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets in an environment, longest first, each once."""
    found = {secret for name, value in environment.items() for secret in _secrets(name, value.strip())}
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))


def _secrets(name: str, value: str) -> Iterator[str]:
    if ";" in value and _PAIRS.fullmatch(value):
        yield from _of_connection_string(value)
    elif "://" in value:
        yield from _of_url(value)
    elif (strength := _strength(name)) and value.startswith("{"):
        yield from _of_json(value)
    elif strength and _is_secret(value, strong=strength > 1):
        yield value


def _strength(name: str) -> int:
    """2 where the name says secret, 1 where it may, 0 where it does not."""
    parts = [part for part in re.split(r"[^A-Z0-9]+", _split_camels(name).upper()) if part]
    if not parts or parts[-1] in _ABOUT or name in ("PWD", "OLDPWD"):
        return 0
    if _STRONG & {*parts} or parts[-1].endswith(_STRONG_ENDINGS):
        return 2
    if any(second == "KEY" and first in _STRONG_KEYS for first, second in pairwise(parts)):
        return 2
    return 1 if _WEAK & {*parts} else 0


def _split_camels(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def _is_secret(value: str, *, strong: bool) -> bool:
    if len(value) < MIN_LENGTH or value.lower() in _WORDS or _NUMBER.fullmatch(value) or _PATH.match(value):
        return False
    return strong or not _WORDY.fullmatch(value)


def _of_connection_string(value: str) -> Iterator[str]:
    """`AccountName=x;AccountKey=…`: each member by its own name."""
    for pair in value.split(";"):
        name, _, member = pair.partition("=")
        yield from _secrets(name.strip(), member.strip())


def _of_url(value: str) -> Iterator[str]:
    """The password of a URL as it is written and as it is meant, or the token that stands in its user's place; the secrets in
    its query."""
    try:
        parts = urlsplit(value)
        password, user = parts.password, parts.username
    except ValueError:
        return
    token = user if user and len(user) >= 16 and not _WORDY.fullmatch(user) else None
    # postgres:postgres@ is a default that everybody knows, and a word.
    given = token if password is None else password if password not in (user, parts.scheme) else None
    for form in {given or "", unquote(given or "")}:
        if _is_secret(form, strong=True):
            yield form
    for name, member in parse_qsl(parts.query):
        yield from _secrets(name, member)


def _of_json(value: str) -> Iterator[str]:
    """Credentials kept as a JSON object (a service account): the members whose names are secret."""
    try:
        content = json.loads(value)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        if len(value) >= MIN_LENGTH:
            yield value
        return
    for key, member in content.items():
        if isinstance(member, str):
            yield from _secrets(key, member.strip())
        elif isinstance(member, dict):
            yield from _of_json(json.dumps(member))

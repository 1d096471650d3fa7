"""The environment of a child that is to go through the sidecar: everything added to what was there, nothing replaced.

Clients read many variables for their proxy and their roots (docs/clients.md). Those that replace a client's roots get one
file of the roots that were in force plus the run's authority; those that add to them get the authority and what was added
before.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import certifi
from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

__all__ = ["ADDING", "PROXIES", "REPLACING", "child_environment", "preloads", "rendered", "sidecar_variables"]

PROXIES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "WSS_PROXY",
    "wss_proxy",
    "WS_PROXY",
    "ws_proxy",
)

REPLACING = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "HTTPLIB2_CA_CERTS",
    "NIX_SSL_CERT_FILE",
    "CODEX_CA_CERTIFICATE",
)
"""What they name is all that the client trusts."""

ADDING = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")
"""What they name is trusted beside the client's own roots."""

_PRELOAD = Path(__file__).parent / "preload"
_STORE_PASSWORD = "changeit"  # noqa: S105  # Java's own word for a trust store that holds no secret


def sidecar_variables(proxy: str, bundle: Path, extra: Path) -> dict[str, str]:
    """Proxy and roots alone. `bundle` holds all roots, `extra` those that are added."""
    return {
        **dict.fromkeys(PROXIES, proxy),
        # Loopback tools are to be recorded too, and a user's `*` must not defeat the capture.
        "NO_PROXY": "",
        "no_proxy": "",
        **dict.fromkeys(REPLACING, str(bundle)),
        **dict.fromkeys(ADDING, str(extra)),
        "NODE_USE_ENV_PROXY": "1",
    }


def child_environment(base: Mapping[str, str], *, proxy: str, ca: Path, folder: Path, events: str, run: str) -> dict[str, str]:
    """`base` with the way through the sidecar added; the files that it names are written into `folder`."""
    pem = ca.read_bytes()
    bundle, extra = folder / "bundle.pem", folder / "extra.pem"
    roots = _joined([*_named(base, REPLACING), Path(certifi.where())][: _most(base)], pem)
    bundle.write_bytes(roots)
    extra.write_bytes(_joined(_named(base, ADDING), pem))
    return {
        **base,
        **sidecar_variables(proxy, bundle, extra),
        **preloads(base),
        **_java(base, proxy, roots, folder),
        "WIRETAPE_EVENTS": events,
        "WIRETAPE_RUN": run,
    }


def preloads(base: Mapping[str, str]) -> dict[str, str]:
    """What leads in clients that read no proxy variable (Node 20's fetch, `ws`, aiohttp), added to what `base` has."""
    node = f"--require={_quoted(_PRELOAD / 'node.cjs')}"
    given = base.get("NODE_OPTIONS")
    python = [each for each in (base.get("PYTHONPATH") or "").split(os.pathsep) if each and each != str(_PRELOAD)]
    return {
        "NODE_OPTIONS": given if given and node in given else _appended(given, node),
        "PYTHONPATH": os.pathsep.join([str(_PRELOAD), *python]),
    }


def _most(base: Mapping[str, str]) -> int | None:
    """certifi stands in where no variable names other roots."""
    named = len(_named(base, REPLACING))
    return named or None


def _named(base: Mapping[str, str], variables: Iterable[str]) -> list[Path]:
    """The readable files that these variables name, each once."""
    paths = dict.fromkeys(Path(base[name]) for name in variables if base.get(name))
    return [path for path in paths if path.is_file() and os.access(path, os.R_OK)]


def _joined(files: Iterable[Path], pem: bytes) -> bytes:
    """The certificates of all, each once: many variables name the same roots."""
    texts = dict.fromkeys(path.read_bytes().strip() for path in files)
    return b"\n".join([*texts, pem])


def _appended(given: str | None, more: str) -> str:
    return f"{given} {more}" if given else more


def _quoted(path: Path) -> str:
    return f'"{path}"' if " " in str(path) else str(path)


def _java(base: Mapping[str, str], proxy: str, roots: bytes, folder: Path) -> dict[str, str]:
    if not (shutil.which("java", path=base.get("PATH")) or base.get("JAVA_HOME")):
        return {}
    store = folder / "roots.p12"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some old roots have odd serial numbers; they are the user's own
        certificates = [pkcs12.PKCS12Certificate(each, None) for each in x509.load_pem_x509_certificates(roots)]
    store.write_bytes(pkcs12.serialize_java_truststore(certificates, BestAvailableEncryption(_STORE_PASSWORD.encode())))
    parts = urlsplit(proxy)
    places = [f"-D{scheme}.proxyHost={parts.hostname} -D{scheme}.proxyPort={parts.port}" for scheme in ("http", "https")]
    trust = f"-Djavax.net.ssl.trustStore={_quoted(store)} -Djavax.net.ssl.trustStorePassword={_STORE_PASSWORD}"
    return {"JAVA_TOOL_OPTIONS": _appended(base.get("JAVA_TOOL_OPTIONS"), f"{' '.join(places)} -Dhttp.nonProxyHosts= {trust}")}


def rendered(variables: Mapping[str, str], format: str) -> str:
    """For a shell, a dotenv file, or as JSON."""
    if format == "json":
        return json.dumps(dict(variables), indent=2)
    if format == "sh":
        return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    return "\n".join(f"{name}={json.dumps(value)}" for name, value in variables.items())

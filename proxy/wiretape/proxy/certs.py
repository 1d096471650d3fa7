"""The certificate authority of one run: made for it alone, trusted by its child alone, deleted afterwards.

mitmproxy's own CertStore makes authority and leaves (RSA 2048, SHA-256, SAN, key identifiers, back-dated by two days), so that
recording and replaying show a client the same kind of certificate. Everything lies in one folder of mode 0700; the key's file
has mode 0600.
"""

from __future__ import annotations

import ipaddress
import shutil
import ssl
import tempfile
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from mitmproxy import certs

__all__ = ["BASENAME", "KEY_SIZE", "Authority"]

BASENAME = "mitmproxy"
"""The name of the store's files; mitmproxy's TLS addon opens the same folder by it."""

KEY_SIZE = 2048


class Authority:
    """A run's CA in a folder of its own. With `folder` the files stay (and are used again); else `close` deletes them."""

    def __init__(self, folder: Path | None = None) -> None:
        self._keep = folder is not None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="wiretape-ca-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._store = certs.CertStore.from_store(self.folder, BASENAME, KEY_SIZE)
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def pem(self) -> Path:
        """The certificate alone, for clients that add it to their roots."""
        return self.folder / f"{BASENAME}-ca-cert.pem"

    def bundle(self, roots: bytes) -> Path:
        """A file of these roots plus the CA, for variables that replace a client's roots."""
        path = self.folder / "bundle.pem"
        path.write_bytes(roots.rstrip() + b"\n" + self.pem.read_bytes())
        return path

    def server_context(self, host: str) -> ssl.SSLContext:
        """TLS for a client that asked for `host` (name or address); ALPN http/1.1 alone. Kept for the next connection."""
        if host not in self._contexts:
            self._contexts[host] = self._make_context(host)
        return self._contexts[host]

    def _make_context(self, host: str) -> ssl.SSLContext:
        entry = self._store.get_cert(host if len(host) < 64 and not _is_address(host) else None, [_subject(host)])
        chain = self.folder / f"leaf-{len(self._contexts)}.pem"
        key = entry.privatekey.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        chain.touch(mode=0o600)
        chain.write_bytes(key + entry.cert.to_pem())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        context.set_alpn_protocols(["http/1.1"])
        return context

    def close(self) -> None:
        if not self._keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _subject(host: str) -> x509.GeneralName:
    if _is_address(host):
        return x509.IPAddress(ipaddress.ip_address(host))
    return x509.DNSName(host.encode("idna").decode("ascii"))

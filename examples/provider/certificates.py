"""A certificate for the real providers' names, by an authority that lives as long as the process and nobody else knows."""

from pathlib import Path

import trustme

__all__ = ["NAMES", "issue"]

NAMES = ("api.openai.com", "api.anthropic.com", "localhost", "127.0.0.1")


def issue(folder: Path, ca_file: Path) -> tuple[str, str]:
    """Write the authority's certificate to `ca_file`, the server's into `folder`; (certificate, key) as paths of PEM files."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(ca_file)
    server = authority.issue_cert(*NAMES)
    cert, key = folder / "provider.pem", folder / "provider.key"
    cert.write_bytes(b"".join(blob.bytes() for blob in server.cert_chain_pems))
    key.touch(0o600)
    server.private_key_pem.write_to_path(key)
    return str(cert), str(key)

# mypy: allow-untyped-defs, allow-untyped-calls, allow-any-generics
# ruff: noqa: PLC0415, S110, SIM105, UP036
"""Runs at the start of every Python that the launched command starts: its folder stands first in PYTHONPATH.

It does three things and imports nothing for them that the program would not import itself:

1. the program's own `sitecustomize`, further down sys.path, runs as if this file were not there;
2. aiohttp reads the proxy variables by default (`trust_env`), once and if the program imports it;
3. the `mcp` client hands the proxy, CA and WIRETAPE variables on to the stdio servers that it starts (it passes six others).

Silent: whatever fails in here leaves the program as it was. It works from Python 3.8 on; an older one must not stumble over it,
hence no syntax that is newer than 2.7.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))

# The names are those of wiretape.proxy.environment, which this file cannot import; a test compares them.
HANDED_ON = (
    "ALL_PROXY",
    "AWS_CA_BUNDLE",
    "CODEX_CA_CERTIFICATE",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "HTTPLIB2_CA_CERTS",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_TOOL_OPTIONS",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_ENV_PROXY",
    "NO_PROXY",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "WIRETAPE_EVENTS",
    "WIRETAPE_RUN",
    "WSS_PROXY",
    "WS_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ws_proxy",
    "wss_proxy",
)


def _trust_env(module):
    """aiohttp.client: `trust_env` is a keyword-only parameter, so its default can be changed in place."""
    defaults = module.ClientSession.__init__.__kwdefaults__
    if "trust_env" in defaults:
        defaults["trust_env"] = True


def _hand_on(module):
    """mcp.client.stdio: what its servers inherit. A server's own `env` still has the last word."""
    original = module.get_default_environment

    def get_default_environment():
        environment = original()
        try:
            for name, value in _handed_on().items():
                environment.setdefault(name, value)
        except Exception:
            pass
        return environment

    module.get_default_environment = get_default_environment


def _handed_on():
    """Our own part alone of PYTHONPATH and NODE_OPTIONS: the client left the program's part out on purpose."""
    found = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
    found["PYTHONPATH"] = _HERE
    preload = os.path.join(_HERE, "node.cjs")
    if preload in os.environ.get("NODE_OPTIONS", "").replace("\\\\", "\\"):
        found["NODE_OPTIONS"] = '--require "{}"'.format(preload.replace("\\", "\\\\").replace('"', '\\"'))
    return found


_PATCHES = {"aiohttp.client": _trust_env, "mcp.client.stdio": _hand_on}


class _Finder:
    """Finds nothing itself: for a module that is to be changed it asks the others, and changes it once it has run."""

    def __init__(self):
        self._asked = set()

    def find_spec(self, name, path=None, target=None):
        if name not in _PATCHES or name in self._asked:
            return None
        self._asked.add(name)
        try:
            spec = _find(name, path, target, self)
            if spec is not None and hasattr(spec.loader, "exec_module"):
                _wrap(spec.loader, name)
            return spec
        finally:
            self._asked.discard(name)


def _find(name, path, target, skipped=None):
    for finder in list(sys.meta_path):
        if finder is not skipped and hasattr(finder, "find_spec"):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
    return None


def _wrap(loader, name):
    original = loader.exec_module

    def exec_module(module):
        original(module)
        # A loader may serve other modules too (zipimport's does).
        if module.__name__ == name:
            try:
                _PATCHES[name](module)
            except Exception:
                pass

    try:
        loader.exec_module = exec_module
    except Exception:
        pass


def _own():
    """The spec of the program's own sitecustomize: the one on sys.path below this folder."""
    entries = [os.path.abspath(entry) for entry in sys.path]
    if _HERE not in entries:
        return None
    below = sys.path[entries.index(_HERE) + 1 :]
    return _find("sitecustomize", [entry for entry in below if os.path.abspath(entry) != _HERE], None)


def _chain(spec):
    """Run the program's own sitecustomize in this one's place. What it raises is raised, as without us."""
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_spec = None
if sys.version_info >= (3, 5):
    try:
        sys.meta_path.insert(0, _Finder())
        _spec = _own()
    except Exception:
        pass
if _spec is not None and _spec.loader is not None:
    _chain(_spec)

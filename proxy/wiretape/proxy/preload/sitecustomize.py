"""Put first in PYTHONPATH of a child of wiretape: leads clients that ignore proxy variables through the proxy.

Two things, each only once the library is imported by the program itself: aiohttp trusts the environment by default, and the
`mcp` client passes the way through the sidecar on to the stdio servers that it starts. Then the user's own sitecustomize
runs, if there is one. Nothing here may ever break a program: what fails is left as it was.
"""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ENDINGS = ("_PROXY", "_proxy", "_CA_BUNDLE", "_CERT_FILE", "_CA_CERTS", "_CERT", "_CAINFO", "_CA_CERTIFICATE", "_FILE_PATH")
_NAMES = ("DENO_CERT", "NODE_OPTIONS", "NODE_USE_ENV_PROXY", "PYTHONPATH", "WIRETAPE_EVENTS", "WIRETAPE_RUN")


def _aiohttp(module):
    session = module.ClientSession
    plain = session.__init__

    def trusting(self, *args, **kwargs):
        kwargs.setdefault("trust_env", True)
        plain(self, *args, **kwargs)

    session.__init__ = trusting


def _mcp(module):
    plain = module.get_default_environment

    def widened():
        ours = {name: value for name, value in os.environ.items() if name in _NAMES or name.endswith(_ENDINGS)}
        return {**plain(), **ours}

    module.get_default_environment = widened


_PATCHES = {"aiohttp.client": _aiohttp, "mcp.client.stdio": _mcp}


class _Loader(importlib.abc.Loader):
    def __init__(self, loader, patch):
        self._loader, self._patch = loader, patch

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        with contextlib.suppress(Exception):  # a library that changed is left as it is
            self._patch(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        patch = _PATCHES.get(name)
        if patch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, patch)
        return spec


def _users_own():
    """The sitecustomize that would have been found without this one."""
    paths = [each for each in sys.path if os.path.abspath(each or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder())
_users_own()

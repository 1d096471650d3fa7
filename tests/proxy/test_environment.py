from __future__ import annotations

import json
import shlex
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
import trustme

from wiretape.proxy.environment import ADDING, PROXIES, REPLACING, child_environment, rendered


@pytest.fixture
def run(tmp_path: Path) -> Path:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return tmp_path


def made(run: Path, **base: str) -> dict[str, str]:
    proxy = "http://127.0.0.1:9"
    return child_environment(
        base, proxy=proxy, ca=run / "ca.pem", folder=run, events="http://wiretape.internal/events", run="r1"
    )


def test_it_sets_every_variable_that_clients_read(run: Path) -> None:
    got = made(run)
    assert {got[name] for name in PROXIES} == {"http://127.0.0.1:9"}
    assert (got["NO_PROXY"], got["no_proxy"], got["NODE_USE_ENV_PROXY"]) == ("", "", "1")
    assert {got[name] for name in REPLACING} == {str(run / "bundle.pem")}
    assert {got[name] for name in ADDING} == {str(run / "extra.pem")}
    assert (got["WIRETAPE_RUN"], got["WIRETAPE_EVENTS"]) == ("r1", "http://wiretape.internal/events")


def test_it_sets_no_base_url_beside_the_proxy(run: Path) -> None:
    assert not [name for name in made(run) if name.endswith("BASE_URL")]


def test_the_bundle_adds_the_authority_to_the_roots_that_were_in_force(run: Path) -> None:
    own = trustme.CA()
    own.cert_pem.write_to_path(str(run / "own.pem"))
    got = made(run, SSL_CERT_FILE=str(run / "own.pem"), REQUESTS_CA_BUNDLE=str(run / "missing.pem"))
    bundle = Path(got["SSL_CERT_FILE"]).read_bytes()
    assert own.cert_pem.bytes().strip() in bundle
    assert (run / "ca.pem").read_bytes() in bundle
    assert len(ssl.create_default_context(cafile=got["SSL_CERT_FILE"]).get_ca_certs()) == 2


def test_without_roots_of_the_users_own_the_well_known_ones_stand_in(run: Path) -> None:
    assert len(ssl.create_default_context(cafile=made(run)["SSL_CERT_FILE"]).get_ca_certs()) > 50


def test_extra_roots_are_kept_beside_the_authority(run: Path) -> None:
    (run / "corp.pem").write_text("-- corp --")
    extra = Path(made(run, NODE_EXTRA_CA_CERTS=str(run / "corp.pem"))["NODE_EXTRA_CA_CERTS"]).read_bytes()
    assert b"-- corp --" in extra
    assert (run / "ca.pem").read_bytes() in extra


def test_what_was_there_stays(run: Path) -> None:
    got = made(run, NODE_OPTIONS="--max-old-space-size=99", PYTHONPATH="/mine", SSL_CERT_DIR="/certs", OTHER="x")
    assert got["NODE_OPTIONS"].startswith("--max-old-space-size=99 --require=")
    assert got["PYTHONPATH"].split(":")[1:] == ["/mine"]
    assert (got["SSL_CERT_DIR"], got["OTHER"]) == ("/certs", "x")


def test_a_users_own_sitecustomize_still_runs(run: Path) -> None:
    (run / "site").mkdir()
    (run / "site" / "sitecustomize.py").write_text("import builtins\nbuiltins.MINE = 'here'\n")
    got = made(run, PYTHONPATH=str(run / "site"), PATH="/usr/bin:/bin")
    done = subprocess.run(
        [sys.executable, "-c", "print(MINE)"], env=got, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == ("here\n", "")


def test_a_python_mcp_client_passes_the_way_on_to_its_servers(run: Path) -> None:
    code = "from mcp.client.stdio import get_default_environment as e; print(e()['HTTPS_PROXY'], e()['WIRETAPE_RUN'])"
    got = made(run, PATH="/usr/bin:/bin", HOME=str(run))
    done = subprocess.run([sys.executable, "-c", code], env=got, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "http://127.0.0.1:9 r1\n", done.stderr


ODD = {"A": "plain", "B": 'two words \'and "quotes" $HOME'}


def test_it_is_printed_so_that_a_shell_reads_it_back() -> None:
    script = rendered(ODD, "sh") + '\nprintf \'%s|%s\' "$A" "$B"'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=10, check=False)
    assert done.stdout == f"{ODD['A']}|{ODD['B']}"
    assert json.loads(rendered(ODD, "json")) == ODD
    assert rendered({"A": "x"}, "dotenv") == 'A="x"'
    assert shlex.split(rendered({"A": "x y"}, "sh"))[1] == "A=x y"

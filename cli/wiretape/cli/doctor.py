"""`replay doctor`."""

from __future__ import annotations

import os

import typer

from wiretape.cli.console import printable
from wiretape.proxy.clients import diagnosis, installed
from wiretape.proxy.runs import running
from wiretape.scenarios.config import load_config

__all__ = ["run"]


def run(context: typer.Context) -> None:
    """Say what each installed client reads, where each setting comes from, and what to look at where a command goes around.

    replay doctor -- python agent.py
    """
    output = context.obj
    output.result("Installed clients and what they read:")
    for client, place in installed():
        remark = f" ({client.remark})" if client.remark else ""
        output.result(printable(f"  {client.name} {place}: proxy {client.proxy}; roots {client.roots}{remark}"))
    output.result("Settings:")
    for each in load_config(environment=os.environ).effective():
        output.result(printable(f"  {each}"))
    output.result("Running sidecars:")
    for run in running():
        output.result(printable(f"  pid {run.pid}: {run.mode} on {run.proxy}"))
    if output.command:
        output.result("Where this command goes around the proxy:")
        for sentence in diagnosis(output.command):
            output.result(f"  {sentence}")

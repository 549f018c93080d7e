"""What can be typed to start a server."""

from __future__ import annotations

import argparse
from pathlib import Path

PORT = 8090


def add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`headwater serve`."""
    serve = commands.add_parser("serve", help="run many pipelines in one process, told over HTTP")
    serve.add_argument("--host", default="127.0.0.1", help="the address it listens at (default: 127.0.0.1)")
    serve.add_argument(
        "--port", type=int, default=PORT, help=f"the port (default: {PORT}; 0: any that is free)"
    )
    text = "where applications and their State live (default: .headwater/server)"
    serve.add_argument("--state", type=Path, default=Path(".headwater/server"), metavar="DIR", help=text)

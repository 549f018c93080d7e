"""A server inside of a program: on the program's own Spark, for as long as it wants."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Self

from headwater.runtime.hosting import Spark
from headwater.server.access import LOCAL, Access
from headwater.server.answering import address_of, answering, bound, configured
from headwater.server.http import make_app
from headwater.server.server import Server


class Serving:
    """A server that answers at `url` until it is closed. Made by `headwater.serve`."""

    def __init__(self, path: Path, spark: Spark | None, port: int) -> None:
        with ExitStack() as stack:
            listening = stack.enter_context(closing(bound(LOCAL[0], port)))
            self.url = f"http://{address_of(listening)}"
            server = stack.enter_context(closing(Server(path, spark)))
            server.start()
            stack.enter_context(answering(configured(make_app(server, Access())), listening))
            # Some requests wait for what a deployment does.
            stack.callback(server.stop)
            self._closing = stack.pop_all()

    def close(self) -> None:
        """Let each step at hand end and close all pipelines; Spark goes on if it is the program's own."""
        self._closing.close()

    def __enter__(self) -> Self:
        """Use it in a `with` statement."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it at the end of a `with` statement."""
        self.close()


def serve(path: str | Path, spark: Spark | None = None, *, port: int = 0) -> Serving:
    """Serve the folder of a server to this machine, on a Spark session of your own if one is given.

    with headwater.serve("shop-server", spark, port=8090) as server:
        print(server.url)
    """
    return Serving(Path(path), spark, port)

"""A way to Postgres that can lose the answer to a commit: the server has done it, and nobody was told."""

from __future__ import annotations

import select
import socket
import threading
from types import TracebackType

COMMIT = b"COMMIT"


class Lossy:
    """Stands before a server on a port of its own; once armed, it loses the answer to the next commit."""

    def __init__(self, port: int, *, at: int = 0) -> None:
        self._server = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", at))
        self.port: int = self._listening.getsockname()[1]
        self.is_armed = False
        self.lost = 0
        """How many answers were lost."""
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Lossy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Who listens in another thread notices only this.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        is_committing = False
        with client, socket.create_connection(self._server) as server:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                for side in ready:
                    data = side.recv(65536)
                    if side is server and is_committing:
                        self.lost += 1
                        return
                    if not data:
                        return
                    if side is client and self.is_armed and COMMIT in data:
                        self.is_armed, is_committing = False, True
                    (server if side is client else client).sendall(data)

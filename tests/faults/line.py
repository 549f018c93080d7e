"""A line between a client and a server that can be cut: what goes in at a port of its own comes out at the server's."""

from __future__ import annotations

import socket
import struct
import threading
from types import TracebackType

HOST = "127.0.0.1"


class Line:
    """Hands on bytes both ways until it is cut; a new call goes through again."""

    def __init__(self, to: int) -> None:
        self.to = to
        self._listening = socket.create_server((HOST, 0))
        self.port = int(self._listening.getsockname()[1])
        self._calls: set[socket.socket] = set()
        self.short: list[int] = []
        """Of the next calls, one after the other: how many bytes of the server's get through before it breaks."""
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._take_calls, name="line", daemon=True)

    def __enter__(self) -> Line:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()
        self.cut()

    def cut(self) -> int:
        """Cut all calls that are under way. How many there were."""
        with self._lock:
            calls, self._calls = self._calls, set()
        for call in calls:
            _break(call)
        return len(calls) // 2

    def _take_calls(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return  # the line is closed
            try:
                far = socket.create_connection((HOST, self.to), timeout=10.0)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                self._calls |= {near, far}
                most = self.short.pop(0) if self.short else None
            for ends in ((near, far, None), (far, near, most)):
                threading.Thread(target=self._hand_on, args=ends, daemon=True).start()

    def _hand_on(self, here: socket.socket, there: socket.socket, most: int | None) -> None:
        try:
            while said := here.recv(1 << 16):
                if most is not None and (most := most - len(said)) < 0:
                    return
                there.sendall(said)
        except OSError:
            pass  # the call was cut: both ends are closed below
        finally:
            with self._lock:
                self._calls -= {here, there}
            for end in (here, there):
                _break(end)


def _break(call: socket.socket) -> None:
    """End one side as a network does: no goodbye, a reset."""
    try:
        call.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # Whoever waits in another thread for something to come has to hear of it.
        call.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it ended by itself meanwhile
    finally:
        call.close()

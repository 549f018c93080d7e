"""`headwater serve` with a bank in its process that hands in as many transfers as a file says.

    python -m tests.server.victim FILE [FLAGS OF headwater serve]

The transfers are the same in every process, so one that is killed and started again finds all that was ever said.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from headwater.cli.main import main
from headwater.sources.values import store

STORE = "the bank"


def feed(count: Path) -> None:
    """Hand in transfers for ever, each once."""
    bank, never = store(STORE), threading.Event()
    while not never.wait(0.01):
        wanted = int(count.read_text() or 0)
        if bank.last.value < wanted:
            number = bank.last.value
            entries = [(2 * number, "a", number + 1), (2 * number + 1, "b", -number - 1)]
            told = [("+", {"id": i, "account": a, "amount": n}) for i, a, n in entries]
            bank.append({"entries": told})


if __name__ == "__main__":
    threading.Thread(target=feed, args=[Path(sys.argv[1])], daemon=True).start()
    sys.exit(main(["serve", *sys.argv[2:]]))

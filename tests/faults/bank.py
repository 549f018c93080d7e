"""A bank in one Postgres, its books in another database, a pipeline between them that can be killed, and an auditor.

Money goes from account to account; nothing is ever paid in or out. Each transaction writes its transfers and the
balances of their accounts, so the books can be held against each other at every moment.
"""

from __future__ import annotations

import random
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2

from headwater.sinks.jdbc.server import BATCHES
from tests.faults.line import Line
from tests.faults.star import children
from tests.pipeline.world import process
from tests.postgres.world import Database, wait_for

ACCOUNTS = 20

TABLES = f"""
CREATE TABLE accounts (id INT PRIMARY KEY, held BIGINT NOT NULL);
CREATE TABLE transfers (id SERIAL PRIMARY KEY, giver INT NOT NULL, taker INT NOT NULL, amount INT NOT NULL);
INSERT INTO accounts SELECT n, 0 FROM generate_series(0, {ACCOUNTS - 1}) n;
"""

BOOKS = """
CREATE TABLE balance (account INT PRIMARY KEY, balance BIGINT);
CREATE TABLE total (one INT PRIMARY KEY, total BIGINT, accounts BIGINT);
CREATE TABLE pairs (id INT PRIMARY KEY, other INT);
CREATE TABLE told_twice (id INT PRIMARY KEY, held BIGINT, balance BIGINT);
"""

SCRIPT = """
SET 'pipeline.name' = 'bank';
CREATE TABLE accounts (id INT, held BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ({source}, 'table-name' = 'accounts');
CREATE TABLE transfers (id INT, giver INT, taker INT, amount INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ({source}, 'table-name' = 'transfers');

CREATE VIEW credits AS SELECT taker AS account, SUM(amount) AS credits FROM transfers GROUP BY taker;
CREATE VIEW debits AS SELECT giver AS account, SUM(amount) AS debits FROM transfers GROUP BY giver;
CREATE VIEW balances AS
  SELECT a.id AS account, COALESCE(credits, 0) - COALESCE(debits, 0) AS balance, a.held
  FROM accounts a LEFT JOIN credits c ON a.id = c.account LEFT JOIN debits d ON a.id = d.account;

CREATE TABLE balance (account INT, balance BIGINT, PRIMARY KEY (account) NOT ENFORCED)
  WITH ({sink}, 'table-name' = 'balance');
CREATE TABLE total (one INT, total BIGINT, accounts BIGINT, PRIMARY KEY (one) NOT ENFORCED)
  WITH ({sink}, 'table-name' = 'total');
CREATE TABLE pairs (id INT, other INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({sink}, 'table-name' = 'pairs');
CREATE TABLE told_twice (id INT, held BIGINT, balance BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ({sink}, 'table-name' = 'told_twice');
INSERT INTO balance SELECT account, balance FROM balances;
INSERT INTO total SELECT 1, SUM(balance), COUNT(*) FROM balances;
INSERT INTO pairs SELECT a.id, b.id FROM accounts a LEFT JOIN accounts b ON a.id = b.id AND a.held = b.held;
INSERT INTO told_twice SELECT account, held, balance FROM balances WHERE held <> balance;
"""

AUDIT = """
SELECT (SELECT COALESCE(SUM(balance), 0) FROM balance), (SELECT COALESCE(SUM(total), 0) FROM total),
       (SELECT COUNT(*) FROM pairs WHERE other IS NULL), (SELECT COUNT(*) FROM told_twice),
       (SELECT COUNT(*) FROM balance) - (SELECT COALESCE(SUM(accounts), 0) FROM total)
"""
"""What has to be nothing at every moment."""

TRUE_BALANCE = """
SELECT a.id, COALESCE(credits, 0) - COALESCE(debits, 0) FROM accounts a
LEFT JOIN (SELECT taker, SUM(amount) AS credits FROM transfers GROUP BY taker) c ON c.taker = a.id
LEFT JOIN (SELECT giver, SUM(amount) AS debits FROM transfers GROUP BY giver) d ON d.giver = a.id
"""


def script_of(source: Database, target: Database, *, port: int) -> str:
    """The pipeline between two databases; the bank is reached at a port that may be that of a line."""
    login = "'hostname' = '127.0.0.1', 'username' = 'postgres', 'password' = 'postgres'"
    place = f"'port' = '{port}', 'database-name' = '{source.name}'"
    url = f"jdbc:postgresql://127.0.0.1:{target.port}/{target.name}"
    return SCRIPT.format(
        source=f"'connector' = 'postgres-cdc', {login}, {place}",
        sink=f"'connector' = 'jdbc', 'url' = '{url}', 'username' = 'postgres', 'password' = 'postgres'",
    )


@dataclass
class Books:
    """The bank's database, that of its books, and what the auditor saw of these."""

    source: Database
    target: Database
    audit: str = AUDIT
    audits: Counter[tuple[int, ...]] = field(default_factory=Counter)

    def transact(self, dice: random.Random, *, most: int = 1000, least: int = 1) -> None:
        """One transaction of 1, 10 or 1,000 transfers, some of them changed or withdrawn again."""
        count = max(least, min(most, dice.choice((1, 1, 10, 10, 1000))))
        seed = dice.random()
        self.source.together(
            f"SELECT setseed({seed})",
            # Who gives and who takes is drawn once for each row.
            f"CREATE TEMP TABLE moves ON COMMIT DROP AS SELECT n, (random() * {ACCOUNTS - 1})::int AS giver,"
            f" (random() * {ACCOUNTS - 1})::int AS taker, 1 + (random() * 999)::int AS amount"
            f" FROM generate_series(1, {count}) n",
            "INSERT INTO transfers (giver, taker, amount) SELECT giver, taker, amount FROM moves",
            "UPDATE transfers SET amount = amount + 1 WHERE id % 97 = (SELECT count(*) FROM transfers) % 97",
            "DELETE FROM transfers WHERE id % 89 = (SELECT count(*) FROM transfers) % 89",
            f"UPDATE accounts a SET held = t.balance FROM ({TRUE_BALANCE}) t (id, balance)"
            " WHERE t.id = a.id AND a.held <> t.balance",
        )

    @contextmanager
    def auditor(self) -> Iterator[None]:
        """Somebody who looks at the books again and again."""
        over = threading.Event()

        def look() -> None:
            client = psycopg2.connect(self.target.uri)
            client.autocommit = True
            with client.cursor() as cursor:
                while not over.wait(0.02):
                    cursor.execute(self.audit)
                    self.audits[tuple(map(int, cursor.fetchone()))] += 1
            client.close()

        with ThreadPoolExecutor(1) as pool:
            looking = pool.submit(look)
            try:
                yield
            finally:
                over.set()
            # Whoever stopped looking too early says why here.
            looking.result()


@dataclass(kw_only=True)
class Bank(Books):
    """The same with a line between the two, and a pipeline."""

    folder: Path
    line: Line
    closing: ExitStack
    running: subprocess.Popen[bytes] | None = None

    @property
    def asked(self) -> Path:
        """The file that says at which point someone dies."""
        return self.folder / "fault"

    def start(self) -> None:
        """Run the pipeline as a program of its own, anew or where it was."""
        script = self.folder / "bank.sql"
        script.write_text(script_of(self.source, self.target, port=self.line.port))
        words = ("run", script, "--state", self.folder / "state")
        env = {"HEADWATER_FAULTS": str(self.asked)}
        self.running = self.closing.enter_context(process(self.folder, *words, env=env))

    def kill(self, victim: str, dice: random.Random) -> None:
        """Let one of them die; a pipeline is started again, everyone else comes by itself."""
        self.alive()
        if victim in POINT_VICTIMS:
            self._die_at(victim, dice)
        elif victim == "capture":
            self._kill_capture()
        elif victim == "backend":
            self._end_backend()
        elif victim == "line":
            wait_for(lambda: self.line.cut() > 0, seconds=120.0)
        else:
            assert victim == "pipeline" and self.running is not None
            self.running.kill()
            self.running.wait()
            self.start()

    def alive(self) -> None:
        """The pipeline runs."""
        assert self.running is not None and self.running.poll() is None, self.said()

    def _die_at(self, point: str, dice: random.Random) -> None:
        # Runs are merged once there are many of them: the second time may be a minute away.
        self.asked.write_text(f"{point} {1 if point == 'runs merged' else dice.randint(1, 2)}")

        def is_gone() -> bool:
            self.transact(dice, most=10)
            assert self.running is not None
            # First of all, because whoever dies here takes the file along.
            is_over = self.running.poll() is not None
            gone = not self.asked.exists()
            assert gone or not is_over, self.said()
            return gone

        wait_for(is_gone, seconds=300.0)
        if point in OF_PIPELINE:
            assert self.running is not None
            self.running.wait(120.0)
            self.start()

    def _kill_capture(self) -> None:
        assert self.running is not None
        pid = self.running.pid
        wait_for(lambda: bool(children(pid, "postgres.capture")), seconds=120.0)
        for child in children(pid, "postgres.capture"):
            subprocess.run(["kill", "-9", str(child)], check=False)

    def _end_backend(self) -> None:
        ended: list[Any] = []

        def is_ended() -> bool:
            ended.extend(
                self.source.run(
                    "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                    " WHERE active_pid IS NOT NULL AND database = current_database()"
                )
            )
            return bool(ended)

        wait_for(is_ended, seconds=120.0)

    def move_on(self, before: int, *, seconds: float = 300.0) -> None:
        """Wait until the books have a batch more than before."""

        def moved() -> bool:
            self.alive()
            return self.batch() > before

        wait_for(moved, seconds=seconds)

    def batch(self) -> int:
        """The last batch that is in the books."""
        known = self.target.run("SELECT to_regclass(%s)", BATCHES)[0][0]
        found = self.target.run(f"SELECT max(batch_id) FROM {BATCHES}")[0][0] if known else None
        return int(found or 0)

    def become_equal(self, *, seconds: float = 300.0) -> None:
        """Wait until the books hold what the bank's own database says."""
        wanted = sorted(self.source.run(TRUE_BALANCE))

        def equal() -> bool:
            self.alive()
            return sorted(self.target.run("SELECT account, balance FROM balance")) == wanted

        wait_for(equal, seconds=seconds)
        assert self.target.run("SELECT total, accounts FROM total") == [(0, ACCOUNTS)]
        assert sorted(self.target.run("SELECT id, other FROM pairs")) == [(n, n) for n in range(ACCOUNTS)]

    def tables_read(self) -> int:
        """How often it was said that the first rows of a table are read."""
        return sum((self.folder / name).read_text().count("snapshot of ") for name in ("out", "err"))

    def said(self) -> str:
        """What the pipeline said last."""
        return "\n".join((self.folder / name).read_text()[-2000:] for name in ("out", "err"))


OF_PIPELINE = ("batch planned", "sink written", "progress saved", "runs merged")
OF_CAPTURE = ("log written", "log appended", "log confirmed")
POINT_VICTIMS = (*OF_PIPELINE, *OF_CAPTURE)


@contextmanager
def bank(folder: Path, source: Database, target: Database) -> Iterator[Bank]:
    """The bank with empty accounts, empty books, and no pipeline yet."""
    source.run(TABLES)
    target.run(BOOKS)
    with ExitStack() as closing:
        line = closing.enter_context(Line(int(source.port or 0)))
        yield Bank(source, target, folder=folder, line=line, closing=closing)

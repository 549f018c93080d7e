"""Texts that nobody may see: what references stand for, and passwords, taken out of all a pipeline says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from headwater.errors import HeadwaterError
from headwater.options import Secret
from headwater.runtime.facts import BatchDone, Listener
from headwater.sources.base import Report
from headwater.sql.interpolate import referred
from headwater.sql.secrets import MASK


@dataclass
class Hidden:
    """The texts of one script; grows as its options are read."""

    _secret: set[str] = field(default_factory=set)
    _public: set[str] = field(default_factory=set)

    def learn(self, given: Mapping[str, str], resolved: Mapping[str, str]) -> None:
        """Take in the options of a table, as they stand in the script and as they are meant."""
        self._secret |= set(referred(given))
        for value in resolved.values():
            if isinstance(value, Secret):
                self._secret.add(value.reveal())
            else:
                self._public.add(value)

    def mask(self, text: str) -> str:
        """A text with stars for what is hidden; parts of longer words stay."""
        # Whoever uses a public name as the password still wants to read that name.
        for secret in sorted(self._secret - self._public - {""}, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
        return text

    @contextmanager
    def watching(self) -> Iterator[None]:
        """An error that leaves the block shows nothing that is hidden."""
        try:
            yield
        except HeadwaterError as problem:
            problem.message = self.mask(problem.message)
            problem.detail, problem.hint = self.mask(problem.detail), self.mask(problem.hint)
            problem.args = (problem.message,)
            raise


@dataclass(frozen=True)
class Discreet:
    """A listener that hears nothing that is hidden."""

    listener: Listener
    hidden: Hidden

    def report(self, report: Report) -> None:
        """Pass it on without what is hidden."""
        self.listener.report(replace(report, subject=self.hidden.mask(report.subject)))

    def batch(self, done: BatchDone) -> None:
        """Rows are what the user asked to see."""
        self.listener.batch(done)

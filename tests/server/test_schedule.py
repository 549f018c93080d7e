"""When a deployment runs again. Oracle: the calendar."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.errors import UsageError
from headwater.server.records import Deployment
from headwater.server.schedule import check_schedule, first_run, next_run

NOON = datetime(2026, 2, 28, 12, 0, 30, tzinfo=UTC).timestamp()


def scheduled(*, every: str | None = None, cron: str | None = None) -> Deployment:
    return Deployment("application", "version", mode="schedule", every=every, cron=cron)


@pytest.mark.parametrize(
    ("every", "seconds"), [("5s", 5), ("10 min", 600), ("1h", 3600), ("1 day", 86400), ("1500ms", 1.5)]
)
def test_every_counts_from_the_beginning_of_a_run(every: str, seconds: float) -> None:
    assert next_run(scheduled(every=every), NOON) == NOON + seconds
    assert first_run(scheduled(every=every), NOON) == NOON


@pytest.mark.parametrize(
    ("cron", "then"),
    [
        ("0 * * * *", datetime(2026, 2, 28, 13, tzinfo=UTC)),
        ("*/5 * * * *", datetime(2026, 2, 28, 12, 5, tzinfo=UTC)),
        ("30 6 1 * *", datetime(2026, 3, 1, 6, 30, tzinfo=UTC)),
        ("0 0 29 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
    ],
)
def test_cron_waits_for_its_time(cron: str, then: datetime) -> None:
    assert first_run(scheduled(cron=cron), NOON) == next_run(scheduled(cron=cron), NOON) == then.timestamp()


@pytest.mark.parametrize(
    "wrong",
    [
        scheduled(),
        scheduled(every="1h", cron="0 * * * *"),
        scheduled(every="5"),
        scheduled(every="0s"),
        scheduled(every="1000 days"),
        scheduled(every="soon"),
        scheduled(cron="60 * * * *"),
        scheduled(cron="0 0 30 2 *"),
        scheduled(cron=""),
        Deployment("application", "version", every="1h"),
    ],
)
def test_what_is_no_schedule_is_refused(wrong: Deployment) -> None:
    with pytest.raises(UsageError) as refused:
        check_schedule(wrong)
    assert refused.value.hint

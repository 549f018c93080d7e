"""Whether a server seems to want to shut down.

It then asks again and again how far we are, without end: it waits for a confirmation of more than there is to confirm.
That it sends something without data also happens otherwise, as when others change what we do not read, so it is only a
suspicion. A connection that is refused makes it certain.
"""

from __future__ import annotations

RESTLESS = 20
"""So often it woke us for nothing before it is asked."""

PAUSE_SECONDS = 1.0
"""It is not asked more often than that."""


class Restless:
    """Counts how often the server woke us since it sent data, however long that took."""

    def __init__(self) -> None:
        self._wakes = 0
        self._asked = float("-inf")

    def has_data(self) -> None:
        """It sent data."""
        self._wakes = 0

    def woke(self, now: float) -> bool:
        """It woke us; True if it is time to ask whether it still lets anybody in."""
        self._wakes += 1
        if self._wakes < RESTLESS or now - self._asked < PAUSE_SECONDS:
            return False
        self._wakes, self._asked = 0, now
        return True

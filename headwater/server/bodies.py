"""What all bodies of requests have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

LARGEST_REQUEST = 4 * 1024 * 1024
"""In bytes."""


class Body(BaseModel):
    """What a request says, in JSON: nothing beyond the fields it names.

    A bound on every text also refuses what JSON can spell and no text can hold, half of a surrogate pair: nobody could
    be told it again.
    """

    model_config = ConfigDict(extra="forbid", str_max_length=LARGEST_REQUEST)

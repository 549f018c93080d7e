"""Functions of Flink that are not here: each with what works in its place."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.sql.functions.trees import WrongCall

_BITMAP = "Use COUNT(DISTINCT ...) or ARRAY functions: there is no type BITMAP."
_STRUCTURED = "Use ROW(...) and CAST(... AS ROW<name TYPE, ...>)."

MISSING: Mapping[str, str] = {
    **dict.fromkeys(
        [
            "BITMAP_AND",
            "BITMAP_ANDNOT",
            "BITMAP_BUILD",
            "BITMAP_CARDINALITY",
            "BITMAP_FROM_BYTES",
            "BITMAP_OR",
            "BITMAP_TO_ARRAY",
            "BITMAP_TO_BYTES",
            "BITMAP_TO_STRING",
            "BITMAP_XOR",
            "BITMAP_AND_AGG",
            "BITMAP_AND_CARDINALITY_AGG",
            "BITMAP_BUILD_AGG",
            "BITMAP_BUILD_CARDINALITY_AGG",
            "BITMAP_OR_AGG",
            "BITMAP_OR_CARDINALITY_AGG",
            "BITMAP_XOR_AGG",
            "BITMAP_XOR_CARDINALITY_AGG",
        ],
        _BITMAP,
    ),
    "COLLECT": "Use ARRAY_AGG, or COUNT(*) with GROUP BY the value: there is no type MULTISET.",
    "CURRENT_DATABASE": "Write the name itself.",
    "CURRENT_WATERMARK": "Leave it out: batches end at commits, nothing is late.",
    "DESCRIPTOR": "It names the column of time in TABLE(TUMBLE(...)), TABLE(HOP(...)) and the like, nowhere else.",
    "GROUP_ID": "Use GROUPING_ID().",
    "INET_ATON": "Use SPLIT_INDEX(x, '.', 0) and so on.",
    "INET_NTOA": "Use CONCAT_WS('.', ...).",
    "OBJECT_OF": _STRUCTURED,
    "OBJECT_UPDATE": _STRUCTURED,
}
"""The name of each function that is missing, and a hint with the nearest one."""


def refuse_missing(name: str) -> None:
    """Raise if a function of this name is Flink's and missing here."""
    hint = MISSING.get(name.upper())
    if hint is not None:
        raise WrongCall(f"function {name.upper()} is not here yet", hint)

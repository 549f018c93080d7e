"""SQL that nobody would write: real statements, changed in a few places."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Sequence

PLAIN = (
    "CREATE TABLE t (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'values');",
    "CREATE VIEW v AS SELECT b, COUNT(*) AS n FROM t WHERE a > 1 GROUP BY b HAVING COUNT(*) > 2;",
    "INSERT INTO s SELECT JSON_VALUE(b, '$.x' RETURNING INT), CASE WHEN a IN (1, 2) THEN 'y' END FROM t;",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;",
    "SET 'pipeline.name' = 'x'; EXPLAIN SELECT * FROM t; SHOW TABLES; DESCRIBE t; DROP VIEW IF EXISTS v; USE c;",
    "SELECT * FROM t JOIN u USING (a) LEFT JOIN LATERAL (SELECT 1) ON TRUE ORDER BY 1 LIMIT 3;",
)
ODD = (
    "\0",
    "\ud7ff",
    "'",
    '"',
    "`",
    "/*",
    "*/",
    "--",
    "${env:",
    ";",
    "((",
    "))",
    "\\",
    "😀",
    "''",
    "é",
    "\r\n",
)


def mutated(text: str, dice: random.Random) -> str:
    """A text with a few things changed: cut, doubled, moved, or something odd put in."""
    for _ in range(dice.randint(1, 4)):
        a, b = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + 40)
        match dice.randrange(6):
            case 0:
                text = text[:a] + text[b:]
            case 1:
                text = text[:b] + text[a:b] + text[b:]
            case 2:
                text = text[:a] + dice.choice(ODD) + text[a:]
            case 3:
                text = text[:a]
            case 4:
                text = text[:a] + "".join(dice.choices(string.printable, k=dice.randint(1, 8))) + text[b:]
            case _:
                words = text.split(" ")
                dice.shuffle(words)
                text = " ".join(words)
    return text


_NAMES = re.compile(r"\b(?:[a-z_]+|\d+)\b")
ALL = 0
"""For `re.sub`."""


def exchanged(texts: Sequence[str], dice: random.Random) -> str:
    """One of some texts in which a name or number or two is another one of theirs: it is often still a statement."""
    text = dice.choice(texts)
    for _ in range(dice.randint(1, 2)):
        word = dice.choice(_NAMES.findall(text))
        alike = [one for one in _NAMES.findall(" ".join(texts)) if one.isdigit() == word.isdigit()]
        text = re.sub(rf"\b{word}\b", dice.choice(alike), text, count=dice.choice((ALL, 1)))
    return text

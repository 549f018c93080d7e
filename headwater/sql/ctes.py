"""Names that WITH gives inside of a query are made different from all others.

The text that Spark reads has one WITH at its top, where everybody would see what was named inside.

SELECT x.id FROM (WITH items AS (SELECT id FROM tiny) SELECT id FROM items) x JOIN items ON items.id = x.id
names the first of the two items__2.
"""

from __future__ import annotations

import itertools
from collections import defaultdict

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from headwater.plan.walk import table_name


def name_ctes_apart(query: exp.Query) -> None:
    """Rename what WITH names inside of a bound query, where the name is that of a table or was given before."""
    inner = [cte for cte in query.find_all(exp.CTE) if not any(cte is own for own in query.ctes)]
    if not inner:
        return
    readers: dict[int, list[exp.Table]] = defaultdict(list)
    taken = {own.alias.lower() for own in query.ctes}
    for scope in traverse_scope(query):
        for table in scope.tables:
            source = scope.sources.get(table.alias_or_name)
            if isinstance(source, Scope) and isinstance(source.expression.parent, exp.CTE):
                readers[id(source.expression.parent)].append(table)
            else:
                taken.add(table_name(table).lower())
    for cte in inner:
        given = cte.alias.lower()
        names = itertools.chain([given], (f"{given}__{number}" for number in itertools.count(2)))
        name = next(free for free in names if free not in taken)
        taken.add(name)
        if name != given:
            cte.args["alias"].set("this", exp.to_identifier(name))
            for table in readers[id(cte)]:
                table.set("this", exp.to_identifier(name))

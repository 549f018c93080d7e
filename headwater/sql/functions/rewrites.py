"""The table of rewrites: calls by name, and expressions by what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.sql.functions import json_read, json_write, lists, numbers, regexps, strings, text_lists, times
from headwater.sql.functions.strings import Builder
from headwater.sql.functions.trees import TEXT, WrongCall, call, cast, literal_int, try_cast

BUILDERS: Mapping[str, Builder] = {
    "ARRAY_CONCAT": strings.renamed("ARRAY_CONCAT", "concat", 1, 99),
    "ARRAY_CONTAINS": lists.array_contains,
    "ARRAY_REMOVE": lists.array_remove,
    "ARRAY_REVERSE": strings.renamed("ARRAY_REVERSE", "reverse", 1, 1),
    "ARRAY_SLICE": lists.array_slice,
    "ARRAY_SORT": lists.array_sort,
    "CONVERT_TZ": times.convert_tz,
    "DATE_FORMAT": times.date_format,
    "ELEMENT": lists.element,
    "ELT": strings.elt,
    "FROM_BASE64": strings.from_base64,
    "FROM_UNIXTIME": times.from_unixtime,
    "INITCAP": strings.initcap,
    "INSTR": strings.instr,
    "IS_ALPHA": strings.tested("IS_ALPHA", r"^\p{L}+$"),
    "IS_DECIMAL": strings.is_decimal,
    "IS_DIGIT": strings.tested("IS_DIGIT", r"^\p{Nd}+$"),
    "IS_VALID_UTF8": strings.of_text("IS_VALID_UTF8", "is_valid_utf8"),
    "JSON_LENGTH": json_read.json_length,
    "JSON_QUOTE": json_write.json_quote,
    "JSON_STRING": json_write.json_string,
    "JSON_TYPE": json_read.json_type,
    "JSON_UNQUOTE": json_write.json_unquote,
    "LISTAGG": text_lists.list_agg,
    "LPAD": strings.padded("LPAD"),
    "LTRIM": strings.trimmed("LTRIM", "LEADING"),
    "MAKE_VALID_UTF8": strings.of_text("MAKE_VALID_UTF8", "make_valid_utf8"),
    "MAP_UNION": strings.renamed("MAP_UNION", "map_concat", 1, 99),
    "PARSE_JSON": strings.renamed("PARSE_JSON", "parse_json", 1, 1),
    "PARSE_URL": strings.renamed("PARSE_URL", "try_parse_url", 2, 3),
    "REGEXP": regexps.regexp,
    "REGEXP_EXTRACT": regexps.regexp_extract,
    "REGEXP_EXTRACT_ALL": regexps.regexp_extract_all,
    "REGEXP_REPLACE": regexps.regexp_replace,
    "ROW": exp.Struct.from_arg_list,
    "RPAD": strings.padded("RPAD"),
    "RTRIM": strings.trimmed("RTRIM", "TRAILING"),
    "SHA224": strings.hashed("SHA224", 224),
    "SHA256": strings.hashed("SHA256", 256),
    "SHA384": strings.hashed("SHA384", 384),
    "SHA512": strings.hashed("SHA512", 512),
    "SPLIT": strings.split,
    "SPLIT_INDEX": strings.split_index,
    "STR_TO_MAP": strings.str_to_map,
    "TIMESTAMPADD": times.timestamp_add,
    "TO_DATE": times.to_date,
    "TO_TIMESTAMP": times.to_timestamp,
    "TO_TIMESTAMP_LTZ": times.to_timestamp_ltz,
    "TRUNCATE": numbers.truncate,
    "TRY_PARSE_JSON": strings.renamed("TRY_PARSE_JSON", "try_parse_json", 1, 1),
    "UNIX_TIMESTAMP": times.unix_timestamp,
    "URL_DECODE": strings.renamed("URL_DECODE", "try_url_decode", 1, 1),
    "WEEK": times.week,
}
"""What each of these calls is in Spark."""

SPARKS: Mapping[str, Builder] = {
    "MEAN": exp.Avg.from_arg_list,
    "LEVENSHTEIN": strings.renamed("LEVENSHTEIN", "levenshtein", 2, 3),
    "PERCENTILE": numbers.percentile,
    "PERCENTILE_CONT": strings.renamed("PERCENTILE_CONT", "percentile_cont", 1, 1),
    "PERCENTILE_DISC": strings.renamed("PERCENTILE_DISC", "percentile_disc", 1, 1),
    "TO_CHAR": strings.renamed("TO_CHAR", "to_char", 2, 2),
    "TO_VARCHAR": strings.renamed("TO_VARCHAR", "to_varchar", 2, 2),
}
"""Functions of Spark that the library would write with an argument less, or as another one."""


def _json_predicate(node: exp.Is) -> exp.Expr:
    kind = node.expression
    return json_read.is_json(node.this, kind.this or "VALUE") if isinstance(kind, exp.JSON) else node


def _substring(node: exp.Substring) -> exp.Expr:
    start = node.args.get("start")
    return strings.substring(node.this, start, node.args.get("length")) if start is not None else node


def _sized(node: exp.Cast) -> exp.Expr:
    """CAST AS VARCHAR(n) cuts a text, CAST AS CHAR(n) also fills it up."""
    kind = node.to
    length = literal_int(kind.expressions[0].this) if kind.expressions else None
    if length is None or kind.this not in (exp.DataType.Type.VARCHAR, exp.DataType.Type.CHAR):
        return node
    whole = try_cast(node.this, TEXT) if node.args.get("safe") else cast(node.this, TEXT)
    name = "left" if kind.this == exp.DataType.Type.VARCHAR else "rpad"
    blank = [] if name == "left" else [exp.Literal.string(" ")]
    return call(name, whole, exp.Literal.number(length), *blank)


def _first_or_last(node: exp.FirstValue | exp.LastValue) -> exp.Expr:
    around = node.parent
    while isinstance(around, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        around = around.parent
    if isinstance(around, exp.Window):
        return node
    raise WrongCall(
        f"{node.sql_name()} without OVER has no order to go by, so no maintained result could stay true",
        "Use MIN or MAX, or number the rows with ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...).",
        node,
    )


def _any(node: exp.Any) -> exp.Expr:
    """ANY(b) as an aggregate; behind a comparison it stands before a query, behind LIKE before patterns."""
    inside = node.this.unnest()
    is_list = isinstance(node.parent, exp.Like | exp.ILike) and node.arg_key == "expression"
    return node if is_list or isinstance(inside, exp.Query) else exp.LogicalOr(this=inside)


def _pushed(node: exp.Filter | exp.Window) -> exp.Expr:
    """FILTER and OVER belong to the aggregate inside of what a call became."""
    whole = node.this
    if isinstance(whole, exp.AggFunc | exp.Filter | exp.IgnoreNulls | exp.RespectNulls) or not isinstance(
        whole, exp.Anonymous | exp.Case
    ):
        return node
    inner = list(whole.find_all(exp.AggFunc))
    for part in inner:
        around = node.copy()
        part.replace(around)
        around.set("this", part)
    return whole if inner else node


def _loose_json(node: exp.Anonymous) -> exp.Expr:
    if node.name.upper() == "JSON":
        raise WrongCall(
            "JSON() stands outside of JSON_OBJECT and JSON_ARRAY", "A JSON text is a STRING already.", node
        )
    return node


NODES: Mapping[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Anonymous: _loose_json,
    exp.Any: _any,
    exp.Bracket: lists.bracket,
    exp.Cast: _sized,
    exp.Extract: times.extract,
    exp.Filter: _pushed,
    exp.FirstValue: _first_or_last,
    exp.Greatest: numbers.extreme,
    exp.GroupConcat: text_lists.string_agg,
    exp.Is: _json_predicate,
    exp.LastValue: _first_or_last,
    exp.Least: numbers.extreme,
    exp.Like: strings.like,
    exp.Overlaps: times.overlaps,
    exp.SimilarTo: regexps.similar,
    exp.Substring: _substring,
    exp.TryCast: _sized,
    exp.Window: _pushed,
    exp.WithinGroup: text_lists.in_its_order,
}
"""What each of these expressions is in Spark, whatever it was called."""


def with_flink_meaning(tree: exp.Expr) -> exp.Expr:
    """The tree with each expression as Flink means it, changed in place; the root may be another one.

    >>> with_flink_meaning(parse("tags[1]")).sql("spark")
    'TRY_ELEMENT_AT(tags, 1)'
    """
    for node in reversed(list(tree.walk())):
        rewrite = NODES.get(type(node))
        made = rewrite(node) if rewrite is not None else node
        if made is node:
            continue
        made.meta.update({key: value for key, value in node.meta.items() if key not in made.meta})
        # The escape character of a pattern went into what was made of it.
        old = node.parent if isinstance(node, exp.SimilarTo) and isinstance(node.parent, exp.Escape) else node
        if old is tree:
            tree = made
        else:
            old.replace(made)
    return tree

"""The page that describes the server: made from its OpenAPI description, with nothing fetched from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; }
h3 { font: 600 1rem ui-monospace, monospace; margin: 1.5rem 0 0; }
h3 b { display: inline-block; min-width: 4.5rem; color: #06c; } table { border-collapse: collapse; margin: .5rem 0; }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; } th { font-weight: 600; color: #666; }
code { font-family: ui-monospace, monospace; } p { margin: .25rem 0; }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #ddd; }
  h2 { border-color: #444; } h3 b { color: #6af; } }
"""


def docs_page(description: Mapping[str, Any]) -> str:
    """One page: every path with what it takes."""
    info = description["info"]
    body = [
        f"<h1>{_text(info['title'])} {_text(info['version'])}</h1><p>{_text(info.get('description', ''))}</p>",
        '<p>The same for programs: <a href="openapi.json">openapi.json</a></p>',
        *_topics(description),
    ]
    head = f'<meta charset="utf-8"><title>{_text(info["title"])}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>'


def _topics(description: Mapping[str, Any]) -> Iterator[str]:
    topic = None
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["other"])[0]
            if tag != topic:
                topic = tag
                yield f"<h2>{_text(tag)}</h2>"
            yield from _operation(f"<b>{method.upper()}</b> {_text(path)}", operation, description)


def _operation(head: str, operation: Mapping[str, Any], description: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h3>{head}</h3><p>{_text(operation.get('description') or operation.get('summary', ''))}</p>"
    rows = [
        (one["name"], one["in"], one.get("schema", {}), one.get("description", ""), one.get("required"))
        for one in operation.get("parameters", ())
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content.get("schema", {}), description)
        required = schema.get("required", ())
        fields = schema.get("properties") or {"(body)": schema}
        rows += [
            (name, kind, one, one.get("description", ""), name in required) for name, one in fields.items()
        ]
    if rows:
        cells = "".join(
            f"<tr><td><code>{_text(name)}</code>{'' if needed else ' (optional)'}</td><td>{_text(where)}</td>"
            f"<td>{_text(_type(schema))}</td><td>{_text(said)}</td></tr>"
            for name, where, schema, said, needed in rows
        )
        yield f"<table><tr><th>name</th><th>in</th><th>type</th><th></th></tr>{cells}</table>"


def _resolved(schema: Mapping[str, Any], description: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: Mapping[str, Any] = description.get("components", {}).get("schemas", {}).get(name, schema)
    return found


def _type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    return str(schema.get("type") or str(schema.get("$ref", "")).rpartition("/")[2])


def _text(said: object) -> str:
    return html.escape(str(said))

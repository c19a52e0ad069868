"""pagemason methods"""

import click

from apps.cli.common import json_option, print_json, table
from extract.registry import METHODS


@click.command("methods")
@json_option
def command(as_json: bool) -> None:
    """List the methods: extractors, which find the content, and segmenters, which cut pages for retrieval."""
    if as_json:
        keys = ("name", "kind", "needs", "extra", "summary", "source")
        print_json([{key: getattr(method, key) for key in keys} for method in METHODS.values()])
        return
    head = ("NAME", "KIND", "NEEDS", "WHAT IT TAKES FOR CONTENT", "SOURCE")
    rows = [
        (method.name, method.kind, f"{method.needs} {method.extra}".strip(), method.summary, method.source)
        for method in METHODS.values()
    ]
    for line in table([head, *rows]):
        click.echo(line)

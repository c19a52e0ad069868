"""pagemason cat"""

import sys
from typing import TYPE_CHECKING

import click

from apps.cli.common import Failure, find_capture, opened, printable, with_settings
from settings import Settings

if TYPE_CHECKING:
    from blocks.model import Capture
    from store.base import Store

FORMATS = ("html", "markdown", "text", "json")


@click.command()
@click.argument("url")
@click.option("--at", metavar="TIME", help="The newest capture received at or before this time.  [default: now]")
@click.option(
    "--view",
    type=click.Choice(["full", "content"]),
    default="full",
    help="All of the page, or its content.  [default: full]",
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="html", help="[default: html]")
@with_settings("store")
def command(url: str, at: str | None, view: str, form: str, settings: Settings) -> None:
    """Write a page's body to standard output, and nothing else.

    `--view content` writes what the proxy gives as the content view, by the rules about the host and what other pages
    of the site tell; the full page when it is not sure, and why on standard error. `--view full --format html` is the
    body byte for byte.
    """
    with opened(settings, read_only=True) as store:
        capture = store.read(find_capture(store, url, at))
        body = capture.body if (view, form) == ("full", "html") else _view(store, capture, view, form, settings)
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def _view(store: "Store", capture: "Capture", view: str, form: str, settings: Settings) -> bytes:
    from apps.viewing import content_view, full_view
    from store.packing.kinds import is_page

    if not is_page(capture):
        kind = capture.header("content-type").decode("latin-1") or "a body without Content-Type"
        raise Failure(f"{printable(capture.url)}: {printable(kind)}, an HTML page expected")
    if view == "full":
        return full_view(capture, form)
    found = content_view(store, capture, form, settings)
    if found.reason:
        print(f"pagemason: the full page: {printable(found.reason)}", file=sys.stderr)
    return found.body

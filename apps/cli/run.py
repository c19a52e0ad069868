"""pagemason run"""

import click

from apps.cli.common import with_settings
from settings import SPECS, Settings


@click.command()
@with_settings(*(name for name, spec in SPECS.items() if spec.metadata["flag"]))
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting, or an option of mitmproxy's."
)
def command(settings: Settings) -> int:
    """Run the proxy and its dashboard until they are told to end.

    Browsers and crawlers use it as their HTTP proxy; for HTTPS they must trust the CA certificate that it names.
    """
    from apps.running import run

    return run(settings)

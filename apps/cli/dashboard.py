"""pagemason dashboard"""

import socket

import click

from apps.cli.common import Failure, with_settings
from settings import Settings, data_directory


@click.command()
@with_settings("store", "dashboard_host", "dashboard_port")
def command(settings: Settings) -> None:
    """Serve the dashboard of a store alone, without a proxy, until it is told to end.

    `pagemason run` has it beside the proxy already. The store is opened to be read; purging a page asks for the
    token in the data directory.
    """
    from apps.dashboard.keys import TOKEN_FILE, token_of
    from apps.dashboard.serving import run_alone

    if settings.store == "memory:":
        raise Failure("memory: is gone with its process: name a store with --store")
    host, port = settings.dashboard_host, settings.dashboard_port
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=128)
    except OSError as exc:
        reason = (exc.strerror or str(exc)).lower()
        raise Failure(f"cannot listen on {host} port {port}: {reason}; choose another with --dashboard-port") from exc
    with listening:
        token_of(data_directory())
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"dashboard  http://{shown}:{listening.getsockname()[1]}")
        click.echo(f"token      {data_directory() / TOKEN_FILE}")
        run_alone(settings, listening)

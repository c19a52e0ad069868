"""pagemason init"""

import click

from apps.cli.common import opened, with_settings
from settings import Settings, config_directory


@click.command()
@with_settings("store")
def command(settings: Settings) -> None:
    """Make the store, and a configuration file that explains every setting. What is there already stays."""
    from apps.cli.documents import config_yaml

    with opened(settings, create=True) as store:
        click.echo(f"store ready: {shown(settings.store)}, {store.stats().captures} captures")
    path = config_directory() / "config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(config_yaml())
        click.echo(f"configuration written to {path}")
    except FileExistsError:
        click.echo(f"configuration is there: {path}")


def shown(store_url: str) -> str:
    """Return a store's URL without its password."""
    from sqlalchemy.engine import make_url

    return store_url if store_url == "memory:" else make_url(store_url).render_as_string(hide_password=True)

"""Bring a store's schema up to date over a connection that the caller commits."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def config(connection: Connection) -> Config:
    """Return alembic's configuration for this folder of migrations and a connection."""
    settings = Config()
    settings.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    settings.attributes["connection"] = connection
    return settings


def upgrade(connection: Connection) -> None:
    """Apply the migrations that are missing."""
    command.upgrade(config(connection), "head")

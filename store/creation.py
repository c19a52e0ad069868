"""A new store's tables, made at once: what all migrations, one after the other, would make.

Loading alembic takes longer than importing a small archive, and is left to the stores that have something to migrate.
"""

import uuid

from sqlalchemy import Connection, text

from store.models import APPLICATION_ID, FORMAT, SCHEMA, Base

_PACKED = {"pack": ("head", "body"), "fingerprint": ("data",)}
"""Columns that are compressed already: Postgres keeps them out of the row, as they are."""


def create(connection: Connection) -> None:
    """Make the tables in an empty database, over a connection that the caller commits."""
    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    Base.metadata.create_all(connection, checkfirst=False)
    if connection.dialect.name == "sqlite":
        connection.execute(text(f"pragma application_id={APPLICATION_ID}"))
    else:
        for table, columns in _PACKED.items():
            settings = ", ".join(f"alter column {column} set storage external" for column in columns)
            connection.execute(text(f"alter table {table} {settings}"))
    rows = {"format": FORMAT, "store": str(uuid.uuid4()), "next": "1", "purges": "0"}
    insert = text("insert into meta (name, value) values (:name, :value)")
    connection.execute(insert, [{"name": name, "value": value} for name, value in rows.items()])
    connection.execute(text("insert into alembic_version (version_num) values (:schema)"), {"schema": SCHEMA})

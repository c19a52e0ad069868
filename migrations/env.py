"""Alembic's environment: the connection comes from `migrations.run`, and its owner commits."""

from alembic import context

from store.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    version_table_pk=False,  # one row: its index would only cost a page
)
context.run_migrations()

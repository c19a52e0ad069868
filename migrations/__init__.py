"""The store's schema through time, with alembic."""

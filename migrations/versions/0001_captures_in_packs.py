"""Captures in packs."""

import uuid

import sqlalchemy as sa
from alembic import op

from store.models import APPLICATION_ID

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SITE_ID = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    meta = op.create_table(
        "meta",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "site",
        sa.Column("id", SITE_ID, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("writes", "captures", "pages", "blocks", "original", "exact", "block")
        ),
    )
    op.create_table(
        "pack",
        sa.Column("site", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Integer(), nullable=False),
        sa.Column("base", sa.BigInteger(), nullable=True),
        sa.Column("raw", sa.BigInteger(), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.Column("recipes", sa.Integer(), nullable=False),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "need",
        *(
            sa.Column(name, sa.BigInteger(), primary_key=True, autoincrement=False)
            for name in ("site", "needs", "pack")
        ),
        sa.ForeignKeyConstraint(["site", "needs"], ["pack.site", "pack.id"], name="need_needs"),
        sa.ForeignKeyConstraint(["site", "pack"], ["pack.site", "pack.id"], name="need_pack"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "capture",
        *(sa.Column(n, sa.BigInteger(), primary_key=True, autoincrement=False) for n in ("site", "url", "time", "id")),
        sa.Column("pack", sa.BigInteger(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("flags", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "freshening",
        *(sa.Column(name, sa.BigInteger(), primary_key=True, autoincrement=False) for name in ("site", "id")),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sqlite_with_rowid=False,
    )
    rows = {"format": "1", "store": str(uuid.uuid4()), "next": "1", "purges": "0"}
    op.bulk_insert(meta, [{"name": name, "value": value} for name, value in rows.items()])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"pragma application_id={APPLICATION_ID}")
    else:  # our packs are compressed already: keep them out of the row, as they are
        op.execute("alter table pack alter column head set storage external, alter column body set storage external")

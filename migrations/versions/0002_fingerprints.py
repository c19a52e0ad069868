"""Fingerprints of prose, a row a compacted pack."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "fingerprint",
        *(sa.Column(name, sa.BigInteger(), primary_key=True, autoincrement=False) for name in ("site", "pack")),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["site", "pack"], ["pack.site", "pack.id"], name="fingerprint_pack"),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name != "sqlite":  # compressed already
        op.execute("alter table fingerprint alter column data set storage external")

"""Fingerprints of prose, a row a compacted pack."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

PACK_ID = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "fingerprint",
        sa.Column("pack", PACK_ID, primary_key=True, autoincrement=False),
        sa.Column("site", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    if op.get_bind().dialect.name != "sqlite":  # compressed already
        op.execute("alter table fingerprint alter column data set storage external")

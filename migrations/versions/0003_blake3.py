"""Bodies may have BLAKE3 digests: a mark by which programs that know BLAKE2b alone refuse the store."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("update meta set value = '2' where name = 'format'")

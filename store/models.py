"""The tables; docs/format.md says what each is for and what a row costs."""

from sqlalchemy import BigInteger, ForeignKeyConstraint, Integer, LargeBinary, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA = "0002"
"""The newest migration: `alembic_version` of a store that this program writes."""

FORMAT = "1"
APPLICATION_ID = 0x506D736E
"""SQLite's application_id of our files: "Pmsn"."""

ARRIVAL, COMPACTED, PRIVATE = 0, 1, 2
"""`Pack.kind`."""

IS_PRIVATE, IS_ALIAS, IS_FRESHENED = 1, 2, 4
"""Bits of `CaptureRow.flags`."""


class Base(DeclarativeBase):
    type_annotation_map = {int: BigInteger, str: Text, bytes: LargeBinary}  # noqa: RUF012 (SQLAlchemy's own way)


class Meta(Base):
    __tablename__ = "meta"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class Site(Base):
    __tablename__ = "site"

    id: Mapped[int] = mapped_column(
        Integer().with_variant(BigInteger, "postgresql"), primary_key=True, autoincrement=False
    )
    name: Mapped[str]
    writes: Mapped[int]
    captures: Mapped[int]
    pages: Mapped[int]
    blocks: Mapped[int]
    original: Mapped[int]
    exact: Mapped[int]
    block: Mapped[int]


class Pack(Base):
    __tablename__ = "pack"

    site: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[int] = mapped_column(Integer)
    base: Mapped[int | None]
    raw: Mapped[int]
    blocks: Mapped[int] = mapped_column(Integer)
    recipes: Mapped[int] = mapped_column(Integer)
    head: Mapped[bytes]
    body: Mapped[bytes]


class Need(Base):
    __tablename__ = "need"

    site: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    needs: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    pack: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)

    __table_args__ = (
        ForeignKeyConstraint(["site", "needs"], ["pack.site", "pack.id"], name="need_needs"),
        ForeignKeyConstraint(["site", "pack"], ["pack.site", "pack.id"], name="need_pack"),
        {"sqlite_with_rowid": False},
    )


class CaptureRow(Base):
    __tablename__ = "capture"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012

    site: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    url: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    time: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    pack: Mapped[int]
    slot: Mapped[int] = mapped_column(Integer)
    flags: Mapped[int] = mapped_column(Integer)


class FresheningRow(Base):
    __tablename__ = "freshening"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012

    site: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    data: Mapped[bytes]


class FingerprintRow(Base):
    __tablename__ = "fingerprint"

    pack: Mapped[int] = mapped_column(
        Integer().with_variant(BigInteger, "postgresql"), primary_key=True, autoincrement=False
    )
    site: Mapped[int]
    data: Mapped[bytes]

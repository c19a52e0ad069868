"""The tables; docs/format.md says what each is for and what a row costs.

They are declared as classes of columns, as with SQLAlchemy's ORM, but are tables of its Core: rows are never objects
here, and loading the ORM takes longer than most commands work.
"""

from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

SCHEMA = "0003"
"""The newest migration: `alembic_version` of a store that this program writes."""

FORMAT = "2"
APPLICATION_ID = 0x506D736E
"""SQLite's application_id of our files: "Pmsn"."""

ARRIVAL, COMPACTED, PRIVATE = 0, 1, 2
"""`Pack.kind`."""

IS_PRIVATE, IS_ALIAS, IS_FRESHENED = 1, 2, 4
"""Bits of `CaptureRow.flags`."""


class _Declared(type):
    """Makes a table of the columns of a class, in their order; SQLAlchemy takes the class for the table."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        if "__tablename__" in namespace:
            columns = []
            for column_name, column in namespace.items():
                if isinstance(column, Column):
                    column.name = column.key = column_name
                    columns.append(column)
            options = namespace.get("__table_options__", {})
            constraints = namespace.get("__constraints__", ())
            cls.__table__ = Table(namespace["__tablename__"], Base.metadata, *columns, *constraints, **options)

    def __clause_element__(cls) -> Table:
        return cls.__table__


class Base(metaclass=_Declared):
    """What all tables have in common."""

    metadata: ClassVar[MetaData] = MetaData()


def _key(kind: Any = BigInteger) -> ColumnElement[int]:
    return Column(kind, primary_key=True, autoincrement=False)


def _number(kind: Any = BigInteger) -> ColumnElement[int]:
    return Column(kind, nullable=False)


def _bytes() -> ColumnElement[bytes]:
    return Column(LargeBinary, nullable=False)


def _text(*, is_key: bool = False) -> ColumnElement[str]:
    return Column(Text, primary_key=is_key, nullable=False)


_ROWID = Integer().with_variant(BigInteger, "postgresql")
"""SQLite keeps such a key as the row's own number."""


class Meta(Base):
    __tablename__ = "meta"
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    name = _text(is_key=True)
    value = _text()


class Site(Base):
    __tablename__ = "site"

    id = _key(_ROWID)
    name = _text()
    writes = _number()
    captures = _number()
    pages = _number()
    blocks = _number()
    original = _number()
    exact = _number()
    block = _number()


class Pack(Base):
    __tablename__ = "pack"

    site = _key()
    id = _key()
    kind = _number(Integer)
    base: ClassVar[ColumnElement[int | None]] = Column(BigInteger)
    raw = _number()
    blocks = _number(Integer)
    recipes = _number(Integer)
    head = _bytes()
    body = _bytes()


class Need(Base):
    __tablename__ = "need"
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    site = _key()
    needs = _key()
    pack = _key()

    __constraints__ = (
        ForeignKeyConstraint(["site", "needs"], ["pack.site", "pack.id"], name="need_needs"),
        ForeignKeyConstraint(["site", "pack"], ["pack.site", "pack.id"], name="need_pack"),
    )


class CaptureRow(Base):
    __tablename__ = "capture"
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    site = _key()
    url = _key()
    time = _key()
    id = _key()
    pack = _number()
    slot = _number(Integer)
    flags = _number(Integer)


class FresheningRow(Base):
    __tablename__ = "freshening"
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    site = _key()
    id = _key()
    data = _bytes()


class FingerprintRow(Base):
    __tablename__ = "fingerprint"

    pack = _key(_ROWID)
    site = _number()
    data = _bytes()

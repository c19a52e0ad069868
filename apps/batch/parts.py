"""The folder of intermediate results, and Parquet files in which each row group belongs to one partition.

A result is named by what it is made of (`extras.key_of`) and appears at once, with what is to be known of it as its
own metadata: a task that was cut off has left nothing, and one that was done is not done again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

ABOUT = b"pagemason"
"""Key of a file's own metadata: a JSON object."""

Columns = Mapping[str, Sequence[Any] | Any]


def partition_of(site: str, n_partitions: int) -> int:
    """Return the partition that a site belongs to."""
    digest = blake2b(site.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % n_partitions


def schema(**types: Any) -> Any:
    """Return a schema that begins with the partition."""
    return pa.schema([("partition", pa.uint32()), *types.items()])


class PartWriter:
    """Writes a Parquet file that appears when the context ends well. Equal rows give equal bytes."""

    def __init__(self, path: Path, of: Any) -> None:
        self._path, self._schema = path, of
        self._about: dict[str, Any] = {}
        self._parts: list[int] = []

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._temporary = self._path.with_name(f".{self._path.name}.{uuid4().hex}")
        self._writer = pq.ParquetWriter(
            str(self._temporary), self._schema, compression="zstd", compression_level=3, write_statistics=False
        )
        return self

    def write(self, partition: int, columns: Columns) -> None:
        """Write a row group of one partition."""
        n = len(next(iter(columns.values())))
        if not n:
            return
        arrays = {"partition": [partition] * n, **columns}
        table = pa.table([pa.array(arrays[f.name], f.type) for f in self._schema], schema=self._schema)
        self._writer.write_table(table, row_group_size=n)
        self._parts.append(partition)

    def tell(self, **about: Any) -> None:
        """Note something about the file."""
        self._about |= about

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        about = json.dumps(self._about | {"partitions": self._parts}, sort_keys=True)
        self._writer.add_key_value_metadata({ABOUT.decode(): about})
        self._writer.close()
        if error is None:
            self._temporary.replace(self._path)
        else:
            self._temporary.unlink(missing_ok=True)


class Part:
    """A written file: what was told about it, and its row groups by partition."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._metadata = pq.read_metadata(path)
        self.about: dict[str, Any] = json.loads(self._metadata.metadata[ABOUT])

    @property
    def partitions(self) -> list[int]:
        """The partition of each row group, in order."""
        found: list[int] = self.about["partitions"]
        return found

    def groups(self, partition: int | None = None) -> Iterator[Any]:
        """Yield the row groups of a partition, or all, as tables."""
        with pq.ParquetFile(self._path, metadata=self._metadata) as file:
            for number, of in enumerate(self.partitions):
                if partition is None or of == partition:
                    yield file.read_row_group(number)


def write_lines(path: Path, lines: Iterator[str]) -> int:
    """Write lines to a file that appears when all are there; return how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    n = 0
    try:
        with temporary.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
                n += 1
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return n


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document, whole or not at all."""
    write_lines(path, iter(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).split("\n")))

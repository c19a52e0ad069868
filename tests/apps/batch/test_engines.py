"""Workers that die: their tasks are done all the same, or named."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.batch.engines import Local, measured
from apps.batch.extras import code_version


def _double(number: int) -> int:
    return 2 * number


def _dies_once(mark: str) -> str:
    """Kill this process, unless that was done before."""
    path = Path(mark)
    if path.name.startswith("dies") and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name


def _dies(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture
def local() -> Iterator[Local]:
    engine = Local(2)
    yield engine
    engine.close()


def test_answers_come_in_order_with_what_they_took(local: Local) -> None:
    answers = list(local.run(_double, range(9)))
    assert [answer.result for answer in answers] == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert all(answer.memory_bytes > 1 << 20 for answer in answers)


def test_a_task_whose_worker_is_killed_is_done_again(local: Local, tmp_path: Path) -> None:
    names = ["first", "dies", "third", "fourth"]
    answers = list(local.run(_dies_once, [str(tmp_path / name) for name in names]))
    assert [answer.result for answer in answers] == names


def test_a_task_that_kills_every_worker_is_given_up_and_the_others_are_done(local: Local) -> None:
    answers = list(local.run(_dies, range(4)))
    assert [answer.result for answer in answers] == [0, None, 2, 3]
    assert answers[1].failure == "its worker was killed 3 times"


def test_a_task_that_raises_is_named(local: Local) -> None:
    answers = list(local.run(Path.read_bytes, [Path("/nowhere/at/all")]))
    assert answers[0].failure.startswith("FileNotFoundError: ")


def test_a_worker_with_other_code_does_nothing() -> None:
    assert measured(_double, 1, code_version()).result == 2
    assert measured(_double, 1, "other").failure.endswith("has another version of Pagemason")

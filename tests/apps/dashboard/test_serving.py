"""Tests that the dashboard's process ends with the proxy, at whatever moment that is."""

import multiprocessing
import socket
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from apps.dashboard.serving import frames_socket, hang_up, serving, supervise
from proxy.service import Service
from settings import Settings


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.6])
def test_no_process_outlives_a_proxy_that_ends_soon(tmp_path: Path, seconds: float) -> None:
    service = Service(Settings(store=f"sqlite:///{tmp_path}/s.db", dashboard_port=0))
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            began = time.monotonic()
            with serving(service, listening):
                time.sleep(seconds)
            assert time.monotonic() - began < 14, "it waited for a process that nobody told to end"
        assert not multiprocessing.active_children()
    finally:
        service.close()


def test_an_end_between_the_look_and_the_start_is_heard(tmp_path: Path) -> None:
    ends: list[Connection] = []

    class SetRightAfterTheFirstLook(threading.Event):
        def is_set(self) -> bool:
            was = super().is_set()
            self.set()
            hang_up(ends)
            return was

    service = Service(Settings(store=f"sqlite:///{tmp_path}/s.db", dashboard_port=0))
    try:
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            closing = SetRightAfterTheFirstLook()
            thread = threading.Thread(target=supervise, args=(service, (one, other), closing, ends), daemon=True)
            thread.start()
            thread.join(14)
            assert not thread.is_alive()
        assert not multiprocessing.active_children()
    finally:
        for child in multiprocessing.active_children():
            child.kill()
        service.close()


def test_a_port_for_frames_that_is_taken_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as listening:
        port = taken.getsockname()[1]
        with frames_socket(Settings(dashboard_frame_port=port), listening) as frames:
            assert frames.getsockname()[1] != port
        assert f"dashboard_frame_port: {port}: address already in use" in caplog.text

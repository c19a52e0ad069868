"""The embedded proxy in the test's own event loop, over a memory store, with clients on real sockets."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from mitmproxy.master import Master

from proxy.master import end, master_of
from proxy.service import Service
from settings import Settings
from tests.end_to_end.program import Reply, ask, connect


class Live:
    """A running proxy. `service` is what is inside."""

    def __init__(self, confdir: Path, **settings: Any) -> None:
        values = {"store": "memory:", "confdir": str(confdir), "listen_port": 0, "view_seconds": 60.0, **settings}
        self.settings = Settings(**values)
        self.service = Service(self.settings)
        self.port = 0
        self._clients = ThreadPoolExecutor(64, "client")

    async def __aenter__(self) -> "Live":
        listening = asyncio.Event()

        def tell(host: str, port: int) -> None:
            self.port = port
            listening.set()

        self.master: Master = master_of(self.settings, self.service, tell)
        self._run = asyncio.create_task(self.master.run())
        await asyncio.wait_for(listening.wait(), 20)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._clients.shutdown()
        await end(self.master)
        await self._run
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*others, return_exceptions=True)

    async def get(self, url: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Reply:
        """Ask for a URL, from a thread of its own."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._clients, self._get, url, method, body, headers)

    def _get(self, url: str, method: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        connection = connect(self.port, url, Path(self.settings.confdir))
        try:
            return ask(connection, url, method=method, body=body, **headers)
        finally:
            connection.close()

"""The pages of the dashboard as a Starlette application."""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from proxy.service import Service

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pagemason</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }}
td:last-child {{ text-align: right; font-variant-numeric: tabular-nums; padding-left: 2rem; }}
@media (prefers-color-scheme: dark) {{ body {{ color: #ddd; background: #181818; }} a {{ color: #8bf; }} }}
</style>
</head>
<body>
<main>
<h1>Pagemason</h1>
<p>Mode {mode}, {state}. All counters: <a href="/metrics">/metrics</a>.</p>
<table>
<caption>Since the proxy started</caption>
{rows}
</table>
</main>
</body>
</html>
"""

_SHOWN = (
    "pagemason_requests_total",
    "pagemason_hits_total",
    "pagemason_captures_committed_total",
    "pagemason_not_kept_total",
    "pagemason_queue_entries",
    "pagemason_queue_bytes",
    "pagemason_memory_pages",
    "pagemason_memory_bytes",
)


def application(service: Service) -> Starlette:
    """Return the application that shows a service."""

    async def overview(request: Request) -> Response:
        state = "ready" if service.ready else "the store does not answer"
        return HTMLResponse(_PAGE.format(mode=service.mode, state=state, rows=_rows(service)))

    async def metrics(request: Request) -> Response:
        return Response(generate_latest(service.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    async def healthy(request: Request) -> Response:
        return PlainTextResponse("healthy\n")

    async def ready(request: Request) -> Response:
        if service.ready:
            return PlainTextResponse("ready\n")
        return PlainTextResponse("the store does not answer\n", status_code=503)

    return Starlette(
        routes=[
            Route("/", overview),
            Route("/metrics", metrics),
            Route("/-/healthy", healthy),
            Route("/-/ready", ready),
        ]
    )


def _rows(service: Service) -> str:
    rows = []
    for metric in service.metrics.registry.collect():
        for sample in metric.samples:
            if sample.name in _SHOWN:
                labels = ", ".join(sample.labels.values())
                name = sample.name.removeprefix("pagemason_").removesuffix("_total").replace("_", " ")
                title = f"{name} ({labels})" if labels else name
                rows.append(f"<tr><td>{title}</td><td>{sample.value:,.0f}</td></tr>")
    return "\n".join(rows)

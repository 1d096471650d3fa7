"""A JSON service: `python -m examples.tools.http_tool --port 8081`.

`GET /weather?location=…`, `POST /multiply {"a", "b"}`, `POST /analyze {"data_request"}` answer `{"result": …}`;
`GET /screenshot` answers a PNG. Errors are `{"error": sentence}`.
"""

import json
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from examples.tools.options import serve

__all__ = ["create_app"]

WEATHER = {"Florence, Italy": "40 C"}
SCREENSHOT = Path(__file__).parent / "data" / "screenshot.png"


def create_app() -> Starlette:
    routes = [
        Route("/weather", _weather),
        Route("/multiply", _multiply, methods=["POST"]),
        Route("/analyze", _analyze, methods=["POST"]),
        Route("/screenshot", _screenshot),
    ]
    return Starlette(routes=routes)


async def _weather(request: Request) -> Response:
    location = request.query_params.get("location", "")
    if location not in WEATHER:
        return _refuse(404, f"No weather is known for {location!r}; there is some for {', '.join(WEATHER)}.")
    return JSONResponse({"location": location, "result": WEATHER[location]})


async def _multiply(request: Request) -> Response:
    body = await _object(request)
    a, b = body.get("a"), body.get("b")
    if not isinstance(a, int) or not isinstance(b, int):
        return _refuse(400, 'Expected {"a": integer, "b": integer}.')
    return JSONResponse({"result": a * b})


async def _analyze(request: Request) -> Response:
    asked = (await _object(request)).get("data_request")
    if not isinstance(asked, str):
        return _refuse(400, 'Expected {"data_request": string}.')
    return JSONResponse({"result": f"Analyzed data patterns for: {asked}"})


async def _screenshot(_: Request) -> Response:
    return Response(SCREENSHOT.read_bytes(), media_type="image/png")


async def _object(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _refuse(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status)


if __name__ == "__main__":
    serve("http-tool", create_app(), "/")

"""Calls the client as each line of JSON asks, and answers with a line: what was sent, what came, what was given."""

import asyncio
import inspect
import json
import re
import sys

import gpu_rental as gpu
import httpx

received = []


def note(request, response, text):
    received.append(
        {
            "method": request.method,
            "url": str(request.url),
            "status": response.status_code,
            "headers": response.headers.multi_items(),
            "text": text,
        }
    )


class Recording(httpx.BaseTransport):
    inner = httpx.HTTPTransport(verify=False)

    def handle_request(self, request):
        response = self.inner.handle_request(request)
        note(request, response, response.read().decode(errors="replace"))
        return response


class AsyncRecording(httpx.AsyncBaseTransport):
    def __init__(self):
        self.inner = httpx.AsyncHTTPTransport(verify=False)

    async def handle_async_request(self, request):
        response = await self.inner.handle_async_request(request)
        note(request, response, (await response.aread()).decode(errors="replace"))
        return response

    async def aclose(self):
        await self.inner.aclose()


def snake(name):
    return {"from": "from_"}.get(name, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())


def arguments(call, asked):
    """The arguments of a call; None where it takes no such names."""
    named = {snake(name): value for name, value in asked["query"].items()}
    known = inspect.signature(call).parameters
    if not named.keys() <= known.keys():
        return None
    if asked.get("idempotencyKey") is not None:
        named["idempotency_key"] = asked["idempotencyKey"]
    places = [asked.get(name) for name in ("id", "name", "body") if name in known]
    return places, named


def begin(client, asked):
    call = getattr(client, snake(asked["operationId"]))
    given = arguments(call, asked)
    if given is None:
        return client.request(asked["method"], asked["path"], body=asked.get("body"))
    return call(*given[0], **given[1])


async def ask_async(asked):
    async with gpu.AsyncClient(http_transport=AsyncRecording(), **asked["options"]) as client:
        return await begin(client, asked)


def ask(asked):
    if asked["waits"]:
        return asyncio.run(ask_async(asked))
    return begin(gpu.Client(http_transport=Recording(), **asked["options"]), asked)


def outcome(asked):
    try:
        value = ask(asked)
        return {"value": value.decode(errors="replace") if isinstance(value, bytes) else value}
    except gpu.ApiError as error:
        told = {"error": error.code, "message": error.message, "requestId": error.request_id}
        if error.details is not None:
            told["details"] = error.details
        if error.support is not None:
            told["support"] = error.support
        known = gpu.refusals.BY_CODE.get(error.code, gpu.ApiError)
        return {"refusal": {"status": error.status, "told": told, "isOwnClass": type(error) is known}}
    except gpu.NoAnswerError as error:
        return {"noAnswer": str(error)}


if __name__ == "__main__":
    for line in sys.stdin:
        received.clear()
        try:
            answer = outcome(json.loads(line))
        except Exception as error:
            answer = {"fault": repr(error)}
        print(json.dumps({**answer, "received": received}), flush=True)

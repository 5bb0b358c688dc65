"""The fixed conversation, by the official Python SDK (1.x or 2.x): `python conversation.py PREVIEW PERSON`.

Each is the address of a server that confirms writes that way, or that word: then one is started."""

import os
import sys
import time
from contextlib import asynccontextmanager

import anyio
import mcp
from mcp import types

PAGE = {"path": "docs/install/linux"}
SEARCH = {"query": "linux", "in": "content"}
IS_2 = hasattr(mcp, "Client")
asked = []
answer = "once"


async def ask(context, params):
    asked.append(params)
    return types.ElicitResult(action="accept", content={"answer": answer})


@asynccontextmanager
async def connect(target):
    server = target
    if not target.startswith("http"):
        env = {**os.environ, "WIKI_CONFIRM": target}
        server = mcp.StdioServerParameters(command=os.environ["SERVER"], args=["serve"], env=env)
    if IS_2:
        async with mcp.Client(server, elicitation_callback=ask) as client:
            yield client, client.server_info.name, client.protocol_version
        return
    from mcp.client.streamable_http import streamablehttp_client

    streams = streamablehttp_client(server) if server is target else mcp.stdio_client(server)
    async with streams as (read, write, *_), mcp.ClientSession(read, write, elicitation_callback=ask) as client:
        told = await client.initialize()
        yield client, told.serverInfo.name, told.protocolVersion


async def result(client, name, arguments, **options):
    called = await client.call_tool(f"wikijs_{name}", arguments, **options)
    return called.model_dump(by_alias=True)


async def call(client, name, arguments, **options):
    called = await result(client, name, arguments, **options)
    assert not called.get("isError"), called["content"]
    return called["structuredContent"]


async def step(name, act, *arguments):
    try:
        await act(*arguments)
        print("passed", name)
    except Exception as error:
        print(f"failed {name}: {error!r}".replace("\n", " "))


async def lists(client):
    assert len((await client.list_tools()).tools) == 10
    assert len((await client.list_resources()).resources) > 3


async def progress(client):
    told = []

    async def tell(done, total, message):
        told.append((done, total))

    found = await call(client, "search_pages", SEARCH, progress_callback=tell)
    assert found["hits"] and told and all(done <= total for done, total in told), told


async def read(client, page):
    page.update(await call(client, "get_page_by_path", PAGE))
    read = await client.read_resource(f"wikijs://en/{PAGE['path']}")
    assert read.model_dump(by_alias=True)["contents"][0]["mimeType"] == "text/markdown"


async def preview(client, page, description):
    shown = await call(client, "update_page", {"id": page["id"], "description": description})
    assert shown["preview"] and shown["changes"]["description"]["after"] == description
    page["confirm"] = shown["confirm"]


async def confirm(client, page, description):
    done = await call(client, "update_page", {"id": page["id"], "confirm": page["confirm"]})
    assert done["outcome"] == "applied"
    assert (await call(client, "get_page_by_path", PAGE))["description"] == description


async def cancellation(client):
    with anyio.CancelScope() as scope:

        async def cancel(done, total, message):
            if not IS_2:
                # 1.x leaves it to its user to tell the server.
                told = types.CancelledNotificationParams(requestId=client._request_id - 1)
                await client.send_notification(types.ClientNotification(types.CancelledNotification(params=told)))
            scope.cancel()

        await call(client, "search_pages", SEARCH, progress_callback=cancel)
    assert scope.cancelled_caught
    await call(client, "list_tags", {})


async def elicitation(client, page, description):
    global answer
    change = lambda text: result(client, "update_page", {"id": page["id"], "description": text})
    assert (await change(description))["structuredContent"]["outcome"] == "applied"
    answer = "no"
    assert (await change("never"))["_meta"]["error"]["code"] == "APPROVAL_DENIED"
    assert len(asked) == 2, asked
    assert (await call(client, "get_page_by_path", PAGE))["description"] == description


async def initialize(name, version):
    assert name == "wikijs-gate", name
    assert version == ("2026-07-28" if IS_2 else "2025-11-25"), version


async def main(confirmed_by_preview, confirmed_by_person):
    page = {}
    description = f"Seen at {time.time_ns()}"
    async with connect(confirmed_by_preview) as (client, name, version):
        await step("initialize", initialize, name, version)
        await step("list", lists, client)
        await step("progress", progress, client)
        await step("read", read, client, page)
        await step("preview", preview, client, page, description)
        await step("confirm", confirm, client, page, description)
    async with connect(confirmed_by_person) as (client, _, _):
        await step("cancellation", cancellation, client)
        await step("elicitation", elicitation, client, page, f"{description}, and again")


anyio.run(main, *sys.argv[1:])

"""Calls the tools from Python, by the official SDK: finds a page, reads it, and changes its description.

    pip install "mcp>=2"
    WIKI_BASE_URL=https://wiki.example.com WIKI_API_TOKEN=… python client.py "linux" "How to install on Linux"

Without the second argument nothing is changed. WIKIJS_GATE names the program where it is not on the PATH."""

import asyncio
import os
import sys

import mcp


async def main(words, description=None):
    program = os.environ.get("WIKIJS_GATE", "wikijs-gate")
    server = mcp.StdioServerParameters(command=program, args=["serve"], env=dict(os.environ))
    async with mcp.Client(server) as client:

        async def call(tool, **arguments):
            result = (await client.call_tool(tool, arguments)).model_dump(by_alias=True)
            if result.get("isError"):
                sys.exit(result["content"][0]["text"])
            return result["structuredContent"]

        hits = (await call("wikijs_search_pages", query=words)).get("hits")
        if not hits:
            sys.exit(f"no page has the words {words}")
        page = await call("wikijs_get_page_by_id", id=hits[0]["id"], view="metadata")
        print(f"{page['title']} ({page['path']}): {page.get('description', 'no description')}")
        if description:
            answer = await call("wikijs_update_page", id=page["id"], description=description)
            print(answer.get("changes"))
            # A preview has the token that confirms it, unless people decide.
            if "confirm" in answer:
                answer = await call("wikijs_update_page", id=page["id"], confirm=answer["confirm"])
            print(answer.get("outcome") or f"proposed: {answer.get('proposal')}")


asyncio.run(main(*sys.argv[1:3]))

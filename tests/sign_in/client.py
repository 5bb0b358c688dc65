"""The official Python SDK with its own OAuth flow, by a client that the issuer knows before:

    python client.py SERVER CALLBACK NAME
"""

import asyncio
import sys
import urllib.parse

import httpx2
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

SERVER, CALLBACK, NAME = sys.argv[1:]


class Kept:
    """What the SDK keeps between two runs, here for one."""

    tokens = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return OAuthClientInformationFull(
            client_id="agents", redirect_uris=[CALLBACK], token_endpoint_auth_method="none"
        )

    async def set_client_info(self, info):
        raise AssertionError("the client is known before")


class Person:
    """Goes the way of a browser to the callback; the issuer asks nothing."""

    came = None

    async def sign_in(self, address):
        at = f"{address}&login_hint={NAME}"
        async with httpx2.AsyncClient(trust_env=False) as browser:
            for _ in range(10):
                if at.startswith(CALLBACK):
                    answer = urllib.parse.parse_qs(urllib.parse.urlsplit(at).query)
                    self.came = AuthorizationCodeResult(**{key: own[0] for key, own in answer.items()})
                    return
                answer = await browser.get(at)
                at = urllib.parse.urljoin(at, answer.headers["location"])
        raise AssertionError(f"no way from {address} to {CALLBACK}")

    async def came_back(self):
        return self.came


async def main():
    person, kept = Person(), Kept()
    metadata = OAuthClientMetadata(
        redirect_uris=[CALLBACK], token_endpoint_auth_method="none", grant_types=["authorization_code", "refresh_token"]
    )
    auth = OAuthClientProvider(SERVER, metadata, kept, person.sign_in, person.came_back)
    async with (
        create_mcp_http_client(auth=auth) as http,
        streamable_http_client(SERVER, http_client=http) as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        print("passed signs in", flush=True)
        tools = await session.list_tools()
        assert any(tool.name == "wikijs_update_page" for tool in tools.tools)
        print("passed lists the tools", flush=True)
        page = await session.call_tool("wikijs_get_page_by_path", {"path": "docs/install/linux"})
        assert not page.is_error, page.content
        print("passed reads a page", flush=True)


try:
    asyncio.run(main())
except BaseException as error:  # Groups of them, too: what happened is one line.
    print(f"failed python: {error!r}".replace("\n", " "))

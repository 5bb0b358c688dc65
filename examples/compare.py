#!/usr/bin/env python3
"""Measures which other fields of a page an MCP server changes when it is asked to change the content alone.

    wikijs-gate demo --wiki 127.0.0.1:3000       # prints the wiki's address and keys; "admin" has full access
    examples/compare.py --wiki http://127.0.0.1:3000 --key "$ADMIN_KEY" --tool wikijs_update_page \\
        --arguments '{"id": "{id}", "content": "{content}"}' --confirm confirm \\
        --env WIKI_BASE_URL={wiki} --env WIKI_API_TOKEN={key} \\
        --env WIKI_MUTATIONS_ENABLED=true --env WIKI_MUTATION_DRY_RUN=false -- wikijs-gate

The wiki may also be a real one, with a key of full access. The script makes a page below compare/ with a
description, tags, publish dates, styles and a script, has the server change its content over stdio, reads the
page before and after through the wiki's own API, and deletes it. {id}, {path} and {content} in --arguments,
{wiki} and {key} in --env stand for what their names say. --confirm names a member of the first answer that a
second call returns, for servers that ask for a confirmation.

The first row is the wiki's own `update` with the content alone: what a server loses that does no more. Ends
with 0 if nothing but the content changed, with 1 otherwise, and with 2 if nothing could be measured.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import urllib.request

PAGE = {
    "title": "Compare", "description": "Made to be measured", "content": "# Before\n", "editor": "markdown",
    "isPublished": True, "isPrivate": False, "locale": "en", "tags": ["compare"],
    "publishStartDate": "2026-01-01T00:00:00.000Z", "publishEndDate": "2036-01-01T00:00:00.000Z",
    "scriptCss": ".compare{color:red}", "scriptJs": "window.compare = 1",
}
TYPES = {"isPublished": "Boolean!", "isPrivate": "Boolean!", "tags": "[String]!",
         "publishStartDate": "Date", "publishEndDate": "Date", "scriptCss": "String", "scriptJs": "String"}
CONTENT = "# After\n"


def unmeasured(why):
    print(why, file=sys.stderr)
    sys.exit(2)


class Wiki:
    """The wiki's own API."""

    def __init__(self, address, key):
        self.address, self.key = address.rstrip("/"), key

    def ask(self, query, **variables):
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        with urllib.request.urlopen(urllib.request.Request(f"{self.address}/graphql", body, headers), timeout=60) as answer:
            told = json.load(answer)
        return (told.get("data") or {}).get("pages") or {}, told.get("errors")

    def create(self, path):
        page = {**PAGE, "path": path}
        names = ", ".join(f"${name}: {TYPES.get(name, 'String!')}" for name in page)
        given = ", ".join(f"{name}: ${name}" for name in page)
        query = f"mutation ({names}) {{ pages {{ create({given}) {{ responseResult {{ succeeded message }} page {{ id }} }} }} }}"
        told, errors = self.ask(query, **page)
        if not (told.get("create") or {}).get("page"):
            unmeasured(f"the page {path} could not be made: {errors or told}")
        return told["create"]["page"]["id"]

    def read(self, page):
        fields = " ".join(name for name in PAGE if name != "tags")
        told, errors = self.ask(f"query ($id: Int!) {{ pages {{ single(id: $id) {{ path {fields} tags {{ tag }} }} }} }}", id=page)
        if not told.get("single"):
            unmeasured(f"page {page} could not be read: {errors}")
        return {**told["single"], "tags": sorted(tag["tag"] for tag in told["single"]["tags"])}

    def update(self, page):
        query = "mutation ($id: Int!, $content: String) { pages { update(id: $id, content: $content) { responseResult { succeeded } } } }"
        told, errors = self.ask(query, id=page, content=CONTENT)
        succeeded = ((told.get("update") or {}).get("responseResult") or {}).get("succeeded")
        return "success" if succeeded and not errors else "error"

    def delete(self, page):
        told, errors = self.ask("mutation ($id: Int!) { pages { delete(id: $id) { responseResult { succeeded } } } }", id=page)
        if not (told.get("delete") or {}).get("responseResult", {}).get("succeeded"):
            print(f"page {page} is left: {errors or told}", file=sys.stderr)


class Server:
    """An MCP server over stdio."""

    def __init__(self, command, env):
        self.process = subprocess.Popen(command, env={**os.environ, **env}, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "compare", "version": "1"}}
        told = self.ask("initialize", hello)["serverInfo"]
        self.name = f"{told['name']} {told.get('version', '')}".strip()
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        # Ending a server that does not answer ends the reading.
        timer = threading.Timer(120, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                told = json.loads(line)
                if told.get("id") == self.last and "method" not in told:
                    if "result" not in told:
                        unmeasured(f"{method}: {told['error']}")
                    return told["result"]
        finally:
            timer.cancel()
        unmeasured(f"{method}: the server ended without an answer")

    def call(self, tool, arguments, confirm):
        told = self.ask("tools/call", {"name": tool, "arguments": arguments})
        answer = told.get("structuredContent") or {}
        if confirm and confirm in answer:
            told = self.ask("tools/call", {"name": tool, "arguments": {**arguments, confirm: answer[confirm]}})
        return "error" if told.get("isError") else "success"

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def filled(value, known):
    """The arguments with what {id}, {path} and {content} stand for; a text that is nothing else keeps the type."""
    if isinstance(value, dict):
        return {name: filled(member, known) for name, member in value.items()}
    if isinstance(value, list):
        return [filled(member, known) for member in value]
    return known.get(value, value) if isinstance(value, str) else value


def measure(wiki, name, path, change):
    """Makes a page, has it changed, and gives the row and whether nothing but the content is another."""
    page = wiki.create(path)
    try:
        before = wiki.read(page)
        said = change(page)
        after = wiki.read(page)
    finally:
        wiki.delete(page)
    others = [field for field in before if field != "content" and before[field] != after[field]]
    if after["content"].strip() != CONTENT.strip():
        others.append("content is not as asked for")
    print(f"| {name} | {', '.join(others) or 'nothing'} | {said} |")
    return not others


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiki", required=True, help="the address of the wiki")
    parser.add_argument("--key", required=True, help="a key of full access")
    parser.add_argument("--tool", required=True, help="the tool that updates a page")
    parser.add_argument("--arguments", required=True, help="its arguments, as JSON")
    parser.add_argument("--confirm", help="the member of its answer that a second call returns")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for the server")
    parser.add_argument("command", nargs="+", help="the server and its arguments, behind --")
    options = parser.parse_args()
    wiki = Wiki(options.wiki, options.key)
    known = {"{wiki}": wiki.address, "{key}": wiki.key}
    env = {}
    for pair in options.env:
        name, _, value = pair.partition("=")
        for placeholder, text in known.items():
            value = value.replace(placeholder, text)
        env[name] = value
    arguments = json.loads(options.arguments)

    print("| server | what else changed | what it said |\n|---|---|---|")
    if measure(wiki, "the wiki's own update", "compare/plain", wiki.update):
        unmeasured("this wiki keeps what an update leaves out, so there is nothing to measure")
    server = Server(options.command, env)

    def change(page):
        given = filled(arguments, {"{id}": page, "{path}": "compare/page", "{content}": CONTENT})
        return server.call(options.tool, given, options.confirm)

    try:
        kept = measure(wiki, server.name, "compare/page", change)
    finally:
        server.end()
    return 0 if kept else 1


sys.exit(main())

#!/usr/bin/env python3
"""A part of a real Wiki.js moves with the links to it, and comes back.

    tests/real/moved_part.py --program target/debug/wikijs-mcp --wiki https://wiki.example.com --key-file FILE

FILE holds a key with full access. Pages are made below one first segment, which must have none:
40 that move, 60 that link to them in every form. The program is asked to move them (`moveTo`), then
to take that back. Each link of what the wiki renders is followed before, between and after: it must
lead to the same page, or nowhere, all three times. At the end the sources are as they were to the
letter, and the pages are removed. Ends with 1 if anything differs. Takes some minutes.
"""

import argparse
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

MOVED, LINKING = 40, 60


class Wiki:
    def __init__(self, address, key):
        self.address, self.key = address.rstrip("/"), key

    def ask(self, query, **variables):
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.address}/graphql", body, headers)
        answer = json.load(urllib.request.urlopen(request, timeout=120))
        assert not answer.get("errors"), answer
        return answer["data"]["pages"]

    def create(self, path, content):
        made = self.ask(
            """mutation($path: String!, $content: String!) { pages { create(path: $path, content: $content,
            title: "T", description: "", editor: "markdown", isPublished: true, isPrivate: false, locale: "en",
            tags: []) { responseResult { succeeded message } page { id } } } }""",
            path=path,
            content=content,
        )["create"]
        assert made["responseResult"]["succeeded"], made
        return made["page"]["id"]

    def delete(self, page):
        self.ask("mutation($id: Int!) { pages { delete(id: $id) { responseResult { succeeded } } } }", id=page)

    def below(self, prefix):
        pages = self.ask("{ pages { list { id path } } }")["list"]
        return sorted(page["id"] for page in pages if page["path"].split("/")[0] == prefix)

    def read(self, page):
        return self.ask("query($id: Int!) { pages { single(id: $id) { id path locale content render } } }", id=page)["single"]

    def page_at(self, address):
        """The id of the page that a reader finds there."""
        request = urllib.request.Request(address, headers={"Cookie": f"jwt={self.key}"})
        try:
            told = urllib.request.urlopen(request, timeout=60).read().decode()
        except (urllib.error.HTTPError, UnicodeDecodeError):
            return None
        found = re.search(r"<page [^>]*?:page-id=\"(\d+)\"|<page [^>]*?page-id='?\"?(\d+)", told)
        return int(next(filter(None, found.groups()))) if found else None


class Links(html.parser.HTMLParser):
    def __init__(self, rendered):
        super().__init__()
        self.found = []
        self.feed(rendered)

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            classes = dict(attributes).get("class") or ""
            # The sign beside each heading.
            if "toc-anchor" not in classes:
                self.found += [value for name, value in attributes if name == "href" and value]


def leads(wiki, pages):
    """Where each link of each page leads, as a reader follows it."""
    todo = []
    for page in pages:
        read = wiki.read(page)
        base = f"{wiki.address}/{read['path']}"
        for number, link in enumerate(Links(read["render"]).found):
            address = urllib.parse.urldefrag(urllib.parse.urljoin(base, link))[0]
            todo.append(((page, number), address))
    known = {address for _, address in todo}
    with ThreadPoolExecutor(4) as pool:
        known = dict(zip(known, pool.map(wiki.page_at, known)))
    return {link: known[address] for link, address in todo}


def sources(wiki, pages):
    reads = [wiki.read(page) for page in pages]
    return {read["id"]: (read["path"], read["content"]) for read in reads}


class Program:
    def __init__(self, program, wiki, directory):
        settings = os.path.join(directory, "config.toml")
        with open(settings, "w") as file:
            file.write('rules_off = ["large-sets"]\n')
        os.chmod(settings, 0o600)
        self.log = open(os.path.join(directory, "log"), "w")
        env = {
            "PATH": os.environ["PATH"],
            "WIKI_BASE_URL": wiki.address,
            "WIKI_API_TOKEN": wiki.key,
            "WIKI_MUTATIONS_ENABLED": "true",
            "WIKI_MUTATION_DRY_RUN": "false",
            "WIKI_CONFIRM": "preview",
            "WIKI_TOOLSETS": "pages,undo,drafts",
            "WIKI_AUDIT_DIR": os.path.join(directory, "audit"),
            "WIKI_CONFIG": settings,
        }
        pipe = subprocess.PIPE
        self.run = subprocess.Popen([program, "serve"], stdin=pipe, stdout=pipe, stderr=self.log, env=env, text=True)
        self.last = 0
        client = {"name": "moved_part", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message):
        self.run.stdin.write(json.dumps(message) + "\n")
        self.run.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.say({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        for line in self.run.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.last:
                return answer["result"]
        raise SystemExit("the program ended; see its log")

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": f"wikijs_{tool}", "arguments": arguments})
        assert not result.get("isError"), result["content"]
        return result["structuredContent"]

    def confirmed(self, tool, **arguments):
        """The preview, and what came of it when it was confirmed and is done."""
        shown = self.call(tool, **arguments)
        assert "confirm" in shown, shown
        arguments["confirm"] = shown["confirm"]
        done = self.call(tool, **arguments)
        while done["outcome"] == "applying":
            print(f"  {done['applied']} of {done['pages']} applied", flush=True)
            time.sleep(10)
            done = self.call("get_change_set", id=done["callId"])
        return shown, done

    def end(self):
        self.run.stdin.close()
        self.run.wait(60)


def seed(wiki, prefix):
    """Pages of a part that link to each other, and pages elsewhere that link to them."""
    old = f"{prefix}/old"
    names = ["", *(f"/p{number}" for number in range(MOVED // 2 - 1))]
    names += [f"{name}/below" for name in names[1:]] + ["/last"]
    names = names[:MOVED]
    pages = []
    for number, name in enumerate(names):
        other = names[(number + 7) % len(names)]
        text = f"# {number}\n\n[me](/{old}{name}) [other](/{old}{other}#x) [near](./p1) [up](../old) [out](/{prefix}/from/l1)\n"
        pages.append(wiki.create(old + name, text))
    forms = [
        "[a](/{to})", "[a](/en/{to})", "[a](/{to}#part)", "[a](</{to}> 'title')", "[a][r]\n\n[r]: /{to}",
        '<a href="/{to}">a</a>', "[a](../{rest})", "[a](../{rest}.md)", "[a]({address}/{to})", "`[a](/{to})` [b](/{to})",
        "| a |\n|---|\n| [a](/{to}) |", "> - [a](/{to}) [gone](/{to}/gone)",
    ]
    for number in range(LINKING):
        name = names[number % len(names)]
        text = forms[number % len(forms)]
        text = text.format(to=old + name, rest=f"old{name}", address=wiki.address)
        pages.append(wiki.create(f"{prefix}/from/l{number}", f"# {number}\n\n{text}\n\n[home](/home)\n"))
    return pages


def told(name, before, after):
    there = sum(page is not None for page in before.values())
    lost = {link: (page, after.get(link)) for link, page in before.items() if after.get(link) != page}
    print(f"{name}: {len(before)} links, {there} lead to a page; {len(lost)} lead elsewhere now", *list(lost.items())[:10])
    return not lost and len(before) == len(after)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--wiki", required=True)
    arguments.add_argument("--key-file", required=True)
    arguments.add_argument("--prefix", default="moved-part")
    arguments = arguments.parse_args()
    with open(arguments.key_file) as file:
        wiki = Wiki(arguments.wiki, file.read().strip())
    prefix = arguments.prefix
    assert not wiki.below(prefix), f"there are pages below {prefix}"
    good = True
    with tempfile.TemporaryDirectory() as directory:
        try:
            print("making pages", flush=True)
            pages = seed(wiki, prefix)
            links, texts = leads(wiki, pages), sources(wiki, pages)
            program = Program(arguments.program, wiki, directory)
            began = time.time()
            shown, done = program.confirmed("bulk_update_pages", path=f"{prefix}/old", moveTo=f"{prefix}/deep/new", expectPages=MOVED)
            left = done.get("linksLeft", [])
            print(f"moveTo: {done['outcome']}, {done['applied']} of {done['pages']} pages, {len(left)} links left, {time.time() - began:.0f} s")
            good &= done["outcome"] == "applied" and not left
            good &= told("after the move", links, leads(wiki, pages))
            changed = sources(wiki, pages)
            moved = sum(changed[page][0] != texts[page][0] for page in pages)
            print(f"{moved} pages moved, {sum(changed[page][1] != texts[page][1] for page in pages)} texts changed")
            good &= moved == MOVED
            began = time.time()
            _, done = program.confirmed("undo_write", callId=done["callId"])
            print(f"undo: {done['outcome']}, {done['applied']} of {done['pages']} pages, {time.time() - began:.0f} s")
            same = sources(wiki, pages) == texts
            print(f"sources and paths as before, to the letter: {same}")
            good &= same and told("after the undo", links, leads(wiki, pages))
            program.end()
        finally:
            for page in wiki.below(prefix):
                wiki.delete(page)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

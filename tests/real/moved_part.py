#!/usr/bin/env python3
"""Sets of many changes on a real Wiki.js: they are made, wait, stop, are cut short, and come back.

    tests/real/moved_part.py --program target/release/wikijs-gate --wiki https://wiki.example.com --key-file FILE

FILE holds a key with full access. Pages are made below one first segment, which must have none: 40
that move, and others that link to them in every form. Each link of what the wiki renders is followed
before, between and after: it must lead to the same page, or nowhere, all three times. After each step
every field of every page of the wiki is as it was before. The steps, all of them unless --steps
names some:

    moves    `moveTo`, asked how far it is meanwhile; undo
    changed  somebody else changes a linking page after the preview: refused, nothing is sent
    waits    the rule large-sets leaves the set to a person, who applies it at a terminal; undo
    killed   SIGKILL in the middle of a set, the next start settles, undo takes back
    again    SIGKILL in the middle of `proposals apply`, which is called again and completes; undo
    draft    create, edit, move, delete, and create at the freed place, as one draft; undo
    many     tags for 200 pages: progress, memory, the bounded preview; undo

With --database (a URL for psql) rows of the tables pages, pageTags and pageLinks are compared as
well. --keep leaves the pages for a next run. Ends with 1 if anything differs. Takes some minutes for
each step.
"""

import argparse
import collections
import html.parser
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

MOVED, LINKING, MANY = 40, 75, 200
# The tools whose answers show changes, of which this looks at each.
SHOWS = {"bulk_update_pages", "create_page", "update_page", "delete_page", "submit_draft", "undo_write", "get_change_set", "get_proposal"}
STEPS = ["moves", "changed", "waits", "killed", "again", "draft", "many"]
FIELDS = """id path locale title description content editor isPublished isPrivate publishStartDate
    publishEndDate scriptCss scriptJs createdAt tags { tag }"""


class Wiki:
    def __init__(self, address, key, database=None):
        self.address, self.key, self.database = address.rstrip("/"), key, database

    def ask(self, query, **variables):
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.address}/graphql", body, headers)
        answer = json.load(urllib.request.urlopen(request, timeout=300))
        assert not answer.get("errors"), answer
        return answer["data"]["pages"]

    def create(self, path, content, locale="en", **more):
        fields = {"title": "T", "description": "", "editor": "markdown", "isPublished": True, "isPrivate": False, "tags": []}
        types = {"isPublished": "Boolean!", "isPrivate": "Boolean!", "tags": "[String]!", "publishStartDate": "Date", "publishEndDate": "Date"}
        fields |= {"path": path, "content": content, "locale": locale} | more
        head = ", ".join(f"${name}: {types.get(name, 'String!')}" for name in fields)
        body = ", ".join(f"{name}: ${name}" for name in fields)
        query = f"mutation({head}) {{ pages {{ create({body}) {{ responseResult {{ succeeded message }} page {{ id }} }} }} }}"
        made = self.ask(query, **fields)["create"]
        assert made["responseResult"]["succeeded"], made
        return made["page"]["id"]

    def retitle(self, page, title):
        """Somebody else's change of a page that is published without dates and has no styles."""
        old = self.read([page], FIELDS)[page]
        done = self.ask(
            """mutation($id: Int!, $title: String!, $description: String!, $tags: [String]!, $content: String!) {
            pages { update(id: $id, title: $title, description: $description, tags: $tags, content: $content,
            isPublished: true) { responseResult { succeeded message } } } }""",
            **{"id": page, "title": title, "description": old["description"], "content": old["content"]},
            tags=[one["tag"] for one in old["tags"]],
        )
        assert done["update"]["responseResult"]["succeeded"], done

    def delete(self, page):
        self.ask("mutation($id: Int!) { pages { delete(id: $id) { responseResult { succeeded } } } }", id=page)

    def list(self):
        return self.ask("{ pages { list { id path locale } } }")["list"]

    def below(self, prefix):
        return sorted(page["id"] for page in self.list() if page["path"].split("/")[0] == prefix)

    def read(self, pages, fields):
        """These fields of these pages, or of all."""
        pages = sorted(page["id"] for page in self.list()) if pages is None else list(pages)
        read = {}
        for at in range(0, len(pages), 50):
            ask = " ".join(f"p{page}: single(id: {page}) {{ {fields} }}" for page in pages[at : at + 50])
            read |= {page["id"]: page for page in self.ask(f"{{ pages {{ {ask} }} }}").values()}
        return read

    def rows(self, query):
        out = subprocess.run(["psql", self.database, "-AtX", "-c", query], capture_output=True, text=True, check=True)
        return out.stdout.splitlines()

    def state(self):
        """All that must come back, by page; and what is told apart: rendered text and graph."""
        pages = self.read(None, FIELDS)
        for page in pages.values():
            page["tags"] = sorted(tag["tag"] for tag in page["tags"])
        state = {"fields": pages}
        if self.database:
            rows = self.rows("select to_jsonb(p) - 'updatedAt' - 'render' - 'toc' from pages p")
            state["rows"] = {row["id"]: row for row in map(json.loads, rows)}
            tags = self.rows('select "pageId", string_agg(tag, \' \' order by tag) from "pageTags" join tags t on t.id = "tagId" group by 1')
            state["row tags"] = dict(row.split("|") for row in tags)
            links = self.rows('select "pageId", string_agg("localeCode" || \':\' || path, \' \' order by "localeCode", path) from "pageLinks" group by 1')
            state["row links"] = dict(row.split("|") for row in links)
            renders = self.rows("select id, md5(render || toc::text) from pages")
            state["rendered"] = dict(row.split("|") for row in renders)
        return state

    def graph(self):
        """Which page the wiki itself knows to link to which."""
        query = """select l."pageId", p.id from "pageLinks" l join pages p on p.path = l.path and p."localeCode" = l."localeCode" """
        return collections.Counter(self.rows(query))

    def page_at(self, address):
        """The id of the page that a reader finds there."""
        if not address.startswith(self.address + "/"):
            return None
        request = urllib.request.Request(address, headers={"Cookie": f"jwt={self.key}"})
        try:
            told = urllib.request.urlopen(request, timeout=120).read().decode()
        except (urllib.error.HTTPError, UnicodeDecodeError):
            return None
        found = re.search(r"<page [^>]*?:page-id=\"(\d+)\"|<page [^>]*?page-id='?\"?(\d+)", told)
        return int(next(filter(None, found.groups()))) if found else None


class Links(html.parser.HTMLParser):
    """Addresses of links and images, and whether the wiki shows the link as dead."""

    def __init__(self, rendered):
        super().__init__()
        self.found = []
        self.feed(rendered)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        classes = (values.get("class") or "").split()
        # The sign beside each heading.
        if tag in ("a", "area", "img", "iframe") and "toc-anchor" not in classes:
            address = values.get("href") or values.get("src")
            if address:
                self.found.append((address, "is-invalid-page" in classes))


def leads(wiki):
    """Where each link of each page leads, as a reader follows it, and which are shown as dead but lead."""
    todo, dead, locales = [], set(), len({page["locale"] for page in wiki.list()}) > 1
    for page in wiki.read(None, "id path locale render").values():
        base = f"{wiki.address}/{page['locale'] + '/' if locales else ''}{page['path']}"
        for number, (link, is_dead) in enumerate(Links(page["render"] or "").found):
            try:
                address = urllib.parse.urldefrag(urllib.parse.urljoin(base, link))[0]
            except ValueError:
                address = ""
            todo.append(((page["id"], number), address))
            if is_dead:
                dead.add((page["id"], number))
    known = sorted({urllib.parse.quote(address, safe="/:?&=%#+@;,") for _, address in todo})
    with ThreadPoolExecutor(4) as pool:
        known = dict(zip(known, pool.map(wiki.page_at, known)))
    led = {link: known[urllib.parse.quote(address, safe="/:?&=%#+@;,")] for link, address in todo}
    return led, {link for link in dead if led[link] is not None}


class Program:
    """The program over standard input and output, with its settings and records in a directory."""

    def __init__(self, program, wiki, directory, rules_off=True):
        self.program = program
        settings = os.path.join(directory, "config.toml")
        with open(settings, "w") as file:
            file.write('rules_off = ["large-sets"]\n' if rules_off else "")
        os.chmod(settings, 0o600)
        self.log = open(os.path.join(directory, "log"), "a")
        self.env = {
            "PATH": os.environ["PATH"],
            "WIKI_BASE_URL": wiki.address,
            "WIKI_API_TOKEN": wiki.key,
            "WIKI_MUTATIONS_ENABLED": "true",
            "WIKI_MUTATION_DRY_RUN": "false",
            "WIKI_CONFIRM": "preview",
            "WIKI_TOOLSETS": "pages,undo,drafts,proposals",
            "WIKI_AUDIT_DIR": os.path.join(directory, "audit"),
            "WIKI_CONFIG": settings,
        }
        pipe = subprocess.PIPE
        self.run = subprocess.Popen([program, "serve"], stdin=pipe, stdout=pipe, stderr=self.log, env=self.env, text=True)
        self.last, self.told = 0, []
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
            if answer.get("method") == "notifications/progress":
                self.told.append(answer["params"])
            if answer.get("id") == self.last:
                return answer["result"]
        raise SystemExit("the program ended; see its log")

    def answer(self, tool, **arguments):
        meta = {"progressToken": self.last}
        return self.ask("tools/call", {"name": f"wikijs_{tool}", "arguments": arguments, "_meta": meta})

    def call(self, tool, **arguments):
        if tool in SHOWS:
            arguments = {"detail": "full", **arguments}
        result = self.answer(tool, **arguments)
        assert not result.get("isError"), result["content"]
        return result["structuredContent"]

    def until_done(self, done):
        while done["outcome"] == "applying":
            print(f"  {done['applied']} of {done['pages']} applied", flush=True)
            time.sleep(10)
            done = self.call("get_change_set", id=done["callId"])
        return done

    def confirmed(self, tool, **arguments):
        """The preview, and what came of it when it was confirmed and is done."""
        shown = self.call(tool, **arguments)
        if "confirm" not in shown:
            return shown, shown
        return shown, self.until_done(self.call(tool, **arguments, confirm=shown["confirm"]))

    def made(self, tool, **arguments):
        _, done = self.confirmed(tool, **arguments)
        assert done["outcome"] == "applied", done
        return done

    def taken_back(self, call):
        began = time.time()
        _, done = self.confirmed("undo_write", callId=call)
        print(f"undo: {done['outcome']}, {done.get('applied')} of {done.get('pages')} pages, {time.time() - began:.0f} s", flush=True)
        return done["outcome"] == "applied"

    def memory(self, what):
        with open(f"/proc/{self.run.pid}/status") as file:
            return int(re.search(rf"{what}:\s+(\d+) kB", file.read())[1]) / 1024

    def command(self, *arguments):
        return subprocess.run([self.program, *arguments], env=self.env, capture_output=True, text=True)

    def sets(self):
        """The sets of changes on record of which something was applied, the newest first."""
        calls = json.loads(self.command("audit", "list", "--json", "--limit", "500").stdout)["calls"]
        return list(dict.fromkeys(call["set"] for call in calls if call.get("set") and call.get("outcome") in ("applied", "partly_applied", "interrupted")))

    def at_terminal(self, question, *arguments, killed_after=None):
        """A command at a terminal, where a person says yes; what it says, and how it ends."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(self.program, [self.program, *arguments], {**self.env, "TERM": "dumb", "PAGER": "cat"})
        text, yes, end = "", False, None
        while True:
            ready, _, _ = select.select([terminal], [], [], 1)
            try:
                got = os.read(terminal, 65536).decode(errors="replace") if ready else ""
                if ready and not got:
                    break
            except OSError:
                break
            text += got
            if not yes and re.search(question, text):
                os.write(terminal, b"y\n")
                yes, end = True, time.time() + (killed_after or 1e9)
            if end and time.time() > end:
                os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text

    def killed(self):
        self.run.kill()
        self.run.wait()

    def end(self):
        self.run.stdin.close()
        self.run.wait(60)


# {to} is a moved page's path, {rest} the same without the first segment, {l} and {el} the locale as an address
# begins with it, and another way to write it.
FORMS = [
    "[a]({l}/{to})", "[a](/{loc}/{to})", "[a]({l}/{to}#part)", "[a](<{l}/{to}> 'title')", "[a][r]\n\n[r]: {l}/{to}",
    '<a href="{l}/{to}">a</a>', "[a](../{rest})", "[a](../{rest}.md)", "[a]({address}{l}/{to})",
    "`[a]({l}/{to})` [b]({l}/{to})", "| a |\n|---|\n| [a]({l}/{to}) |", "> - [a]({l}/{to}) [gone]({l}/{to}/gone)",
    "[a]({l}/{to}?x=1&y=2#part)", "![i]({l}/{to}) <img src='{l}/{to}' alt=i>", "[a]({address}/{loc}/{to}?q#z)",
    "$$\n[a]({l}/{to})\n$$ and $[a]({l}/{to})$", "<div><a href={l}/{to}>a</div> <a href='{l}/{to} <b>[x]({l}/{to})",
    "```\n[a]({l}/{to})\n```\n\n    [a]({l}/{to})\n\n[a]({l}/{to})", "<pre><a href=\"{l}/{to}\">a</a></pre>\n\n[a]({l}/{to})",
    "<!-- [a]({l}/{to}) -->\n[![i](/x.png)]({l}/{to})\n", "# [a]({l}/{to})\n\n{l}/{to} <{address}{l}/{to}>",
    "[é](./../../{to}) [a]({l}/{to}/) [b]({l}//{to})", "[x]({l}/{to}-not) [y]({l}/{to}{to}) [a]({l}/{to} \"t\")",
    "- [ ] [a]({l}/{to})\n- [^1]\n\n[^1]: [a]({l}/{to})", "[a](\\{l}/{to}) [a](%2F{to}) [a]({l}/{to}%23x) [a]({l}/{to})",
]


def seed(wiki, prefix, locales):
    """Pages of a part that link to each other, and pages elsewhere that link to them."""
    old, first = f"{prefix}/old", locales[0]
    before = f"/{first}" if len(locales) > 1 else ""
    names = ["", *(f"/p{number}" for number in range(MOVED // 2 - 1))]
    names += [f"{name}/below" for name in names[1:]] + ["/last"]
    names = names[:MOVED]
    for number, name in enumerate(names):
        other = names[(number + 7) % len(names)]
        text = f"# {number}\n\n[me]({before}/{old}{name}) [other]({before}/{old}{other}#x) [near](./p1) [up](../old) [out]({before}/{prefix}/from/l1)\n"
        more = [
            {"tags": ["one", "Two words"], "description": "Ein \"d\" – ü"},
            {"scriptCss": "body { color: red }", "scriptJs": "window.x = 1;\n"},
            {"publishStartDate": "2020-01-01T00:00:00.000Z", "publishEndDate": "2090-01-01T00:00:00.000Z"},
            {"isPublished": False},
        ]
        wiki.create(old + name, text, first, title=f"Moved {number}", **more[number % len(more)])
        # The same path in another locale stays.
        for locale in locales[1:]:
            if number % 5 == 0:
                wiki.create(old + name, f"# {number}\n\n[en](/{first}/{old}{name}) [de](/{locale}/{old}{other})\n", locale)
    for number in range(LINKING):
        name = names[(number * 3) % len(names)]
        form = FORMS[number % len(FORMS)]
        text = form.format(to=old + name, rest=f"old{name}", address=wiki.address, l=before, loc=first)
        locale = locales[number % 4 // 3 % len(locales)]
        tags = ["linking"] if number % 2 else []
        wiki.create(f"{prefix}/from/l{number}", f"# {number}\n\n{text}\n\n[home](/home)\n", locale, title=f"Linking {number}", tags=tags)


def same(before, after, told="as before, to the letter"):
    """Whether two states are the same; rendered text is told, no more."""
    good = True
    for part, pages in before.items():
        differ = [page for page in pages.keys() | after[part].keys() if pages.get(page) != after[part].get(page)]
        print(f"  {part} of {len(pages)} pages: {len(differ)} differ ({told})", flush=True)
        for page in differ[:5] if part != "rendered" else []:
            print(f"    {page}: {pages.get(page)} -> {after[part].get(page)}")
        good &= part == "rendered" or not differ
    return good


def held(name, before, after, left=()):
    """Whether each link leads where it led, but for those that were said to be left; a link that led
    nowhere may lead to something now."""
    (links, red), (now, red_now) = before, after
    there = {link: page for link, page in links.items() if page is not None}
    lost = {link: (page, now.get(link)) for link, page in there.items() if now.get(link) != page}
    gained = {link: now.get(link) for link, page in links.items() if page is None and now.get(link) is not None}
    print(f"{name}: {len(links)} links, {len(there)} lead to a page; {len(lost)} of these lead elsewhere now", *list(lost.items())[:10])
    print(f"  {len(gained)} that led nowhere lead to a page now; shown as dead but lead: {len(red)} before, {len(red_now)} now", *list(gained.items())[:5], flush=True)
    said = {one["id"] for one in left}
    return all(page in said for page, _ in lost) and len(lost) <= len(left) and len(links) == len(now)


class Trial:
    def __init__(self, options, wiki):
        self.options, self.wiki, self.prefix = options, wiki, options.prefix
        self.old, self.new = f"{self.prefix}/old", f"{self.prefix}/deep/new"
        self.move = {"path": self.old, "moveTo": self.new, "expectPages": MOVED}
        if len(options.locales) > 1:
            self.move["locale"] = options.locales[0]

    def program(self, directory, **more):
        return Program(self.options.program, self.wiki, directory, **more)

    def graph(self):
        return self.wiki.graph() if self.wiki.database else None

    def moves(self, directory):
        wiki, program = self.wiki, self.program(directory)
        links, graph, state = leads(wiki), self.graph(), wiki.state()
        began = time.time()
        shown, done = program.confirmed("bulk_update_pages", **self.move)
        left = done.get("linksLeft", [])
        print(f"moveTo: {done['outcome']}, {done['applied']} of {done['pages']} pages, {time.time() - began:.0f} s; {len(program.told)} notices of progress")
        for one in left:
            print("  left:", json.dumps(one))
        good = done["outcome"] == "applied" and shown["pages"] == done["applied"]
        good &= held("after the move", links, leads(wiki), left)
        if graph is not None:
            now = self.graph()
            print(f"  the wiki's own graph: {graph.total()} links lead to a page, {(graph - now).total()} do not any more, {(now - graph).total()} more", list((graph - now))[:5])
        changed = wiki.state()["fields"]
        of = lambda part: sum(changed[page][part] != one[part] for page, one in state["fields"].items())
        print(f"{of('path')} pages moved, {of('content')} texts changed, {of('tags') + of('publishStartDate') + of('scriptCss') + of('isPublished')} else")
        good &= of("path") == MOVED and of("tags") + of("publishStartDate") + of("scriptCss") + of("isPublished") + of("title") == 0
        good &= program.taken_back(done["callId"])
        good &= held("after the undo", links, leads(wiki)) & same(state, wiki.state())
        program.end()
        return good

    def changed(self, directory):
        wiki, program = self.wiki, self.program(directory)
        state = wiki.state()
        shown = program.call("bulk_update_pages", **self.move)
        theirs = next(page for page, one in state["fields"].items() if one["path"] == f"{self.prefix}/from/l0")
        wiki.retitle(theirs, "Theirs")
        between = wiki.state()
        refused = program.answer("bulk_update_pages", **self.move, confirm=shown["confirm"])
        said = refused["content"][0]["text"]
        print(f"refused: {refused.get('isError')}; the page {theirs} is named: {str(theirs) in said}; {said[:300]}")
        good = refused.get("isError") and str(theirs) in said and same(between, wiki.state(), "from before the confirm")
        wiki.retitle(theirs, state["fields"][theirs]["title"])
        program.end()
        return good & same(state, wiki.state())

    def waits(self, directory):
        wiki, program = self.wiki, self.program(directory, rules_off=False)
        links, state = leads(wiki), wiki.state()
        shown, left = program.confirmed("bulk_update_pages", **self.move)
        short = {name: value for name, value in left.items() if name not in ("changes", "linksLeft", "leftOut")}
        print("the agent is told:", json.dumps(short)[:900])
        good = left["outcome"] == "waiting" and same(state, wiki.state(), "nothing was sent")
        before = program.answer("get_change_set", id=left["callId"])
        print("asked before:", before["content"][0]["text"][:400])
        good &= not before.get("isError")
        began = time.time()
        code, text = program.at_terminal(r"Apply it.*\?", "proposals", "apply", left["proposal"])
        print(f"proposals apply: ended with {code}, {time.time() - began:.0f} s; last lines:", *text.splitlines()[-3:], sep="\n    ")
        after = program.answer("get_change_set", id=left["callId"])
        print("asked after:", after["content"][0]["text"][:400])
        told = program.call("get_proposal", id=left["proposal"])
        print("its proposal:", json.dumps({k: v for k, v in told.items() if k not in ("changes", "diff", "others", "linksLeft")})[:600])
        good &= code == 0 and held("after the move", links, leads(wiki), shown.get("linksLeft", []))
        back = program.command("undo", re.search(r"set ([0-9a-f]{16})", text)[1], "--yes")
        print(f"undo at the terminal: {back.returncode}", *(back.stdout + back.stderr).splitlines()[-2:], sep="\n    ", flush=True)
        good &= back.returncode == 0 and same(state, wiki.state())
        program.end()
        return good

    def killed(self, directory):
        wiki, program = self.wiki, self.program(directory)
        state = wiki.state()
        shown = program.call("bulk_update_pages", **self.move)
        program.say({"jsonrpc": "2.0", "id": 999, "method": "tools/call", "params": {"name": "wikijs_bulk_update_pages", "arguments": {**self.move, "confirm": shown["confirm"]}}})
        time.sleep(self.options.kill_after)
        program.killed()
        now = wiki.state()["fields"]
        print(f"killed: {sum(now[page]['path'] != one['path'] for page, one in state['fields'].items())} of {MOVED} pages moved")
        program = self.program(directory)
        time.sleep(10)
        call = program.sets()[0]
        told = program.answer("get_change_set", id=call)
        print("asked after the next start:", told["content"][0]["text"][:500])
        good = program.taken_back(call) & same(state, wiki.state())
        verified = program.command("audit", "verify")
        print("audit verify:", verified.returncode, verified.stdout.strip().splitlines()[-1:])
        good &= verified.returncode == 0
        program.end()
        return good

    def again(self, directory):
        wiki, program = self.wiki, self.program(directory, rules_off=False)
        state = wiki.state()
        links = leads(wiki)
        shown, left = program.confirmed("bulk_update_pages", **self.move)
        code, _ = program.at_terminal(r"Apply it.*\?", "proposals", "apply", left["proposal"], killed_after=self.options.kill_after)
        now = wiki.state()["fields"]
        print(f"proposals apply, killed: {code}; {sum(now[page]['path'] != one['path'] for page, one in state['fields'].items())} of {MOVED} pages moved")
        code, text = program.at_terminal(r"Apply it.*\?", "proposals", "apply", left["proposal"])
        print(f"applied again: {code}; last lines:", *text.splitlines()[-3:], sep="\n    ")
        good = code == 0 and held("after the move", links, leads(wiki), shown.get("linksLeft", []))
        # What was applied before the kill is a set of its own.
        for made in program.sets():
            back = program.command("undo", made, "--yes")
            print(f"undo of {made}: {back.returncode}", *(back.stdout + back.stderr).splitlines()[-2:], sep="\n    ", flush=True)
            good &= back.returncode == 0
        good &= same(state, wiki.state())
        program.end()
        return good

    def draft(self, directory):
        wiki, program, at = self.wiki, self.program(directory), f"{self.prefix}/draft"
        locale = {"locale": self.options.locales[0]} if len(self.options.locales) > 1 else {}
        l = f"/{self.options.locales[0]}" if locale else ""
        texts = {"a": "# A\n", "b": f"# B\n\nSee [a]({l}/{at}/a).\n", "c": "# C\n\nThird.\n", "d": "# D\n"}
        ids = {name: wiki.create(f"{at}/{name}", text, self.options.locales[0], title=name) for name, text in texts.items()}
        try:
            state = wiki.state()
            joins = lambda tool, **more: program.call(tool, draft="rework", **more)
            joins("delete_page", id=ids["d"])
            joins("create_page", path=f"{at}/d", title="New", content=f"new [a]({l}/{at}/a)\n", **locale)
            joins("update_page", id=ids["b"], edits=[{"oldText": "See", "newText": "Look at"}])
            joins("update_page", id=ids["a"], path=f"{at}/first", updateLinks=True)
            joins("update_page", id=ids["c"], path=f"{at}/third", edits=[{"oldText": "Third", "newText": "3rd"}])
            good = program.call("get_page_by_path", path=f"{at}/d", draft="rework", **locale)["content"].startswith("new")
            good &= same(state, wiki.state(), "nothing was sent")
            shown, done = program.confirmed("submit_draft", draft="rework")
            print("submitted:", done["outcome"], [(one.get("operation"), one["target"]["path"]) for one in shown["changes"]])
            now = {page["path"]: page["content"] for page in wiki.state()["fields"].values() if page["path"].startswith(at)}
            wanted = {f"{at}/first": "# A\n", f"{at}/b": f"# B\n\nLook at [a]({l}/{at}/first).\n", f"{at}/third": "# C\n\n3rd.\n", f"{at}/d": f"new [a]({l}/{at}/first)\n"}
            bare = lambda pages: {path: text.strip() for path, text in pages.items()}
            print("as drafted:", bare(now) == bare(wanted), now if bare(now) != bare(wanted) else "")
            good &= bare(now) == bare(wanted) and done["outcome"] == "applied"
            good &= program.taken_back(done["callId"])
            # A page that was deleted comes back with another id, as promised.
            after = wiki.state()["fields"]
            bare = lambda pages: sorted((one["path"], one["locale"], one["title"], one["content"], one["tags"]) for one in pages.values())
            print("pages as before but for the id of the deleted one:", bare(after) == bare(state["fields"]))
            return good and bare(after) == bare(state["fields"])
        finally:
            program.end()
            for page in wiki.list():
                if page["path"].startswith(at + "/"):
                    wiki.delete(page["id"])

    def many(self, directory):
        wiki, program = self.wiki, self.program(directory)
        state = wiki.state()
        ids = sorted(state["fields"])[:MANY]
        program.call("list_pages", limit=1)
        idle = program.memory("VmRSS")
        asked = {"ids": ids, "addTags": ["many"], "expectPages": len(ids)}
        shown = program.call("bulk_update_pages", **asked)
        said, offset, pages = len(json.dumps(shown)), 0, []
        while offset is not None:
            part = program.call("get_change_set", id=shown["previewId"], offset=offset)
            pages += [one["target"]["id"] for one in part["changes"]]
            offset = part.get("nextOffset")
            print(f"  get_change_set: {len(part['changes'])} changes, {len(json.dumps(part))} bytes, nextOffset {offset}")
        print(f"preview: {said} bytes, {len(shown['changes'])} of {shown['pages']} changes named; get_change_set completes it: {pages == ids or sorted(pages) == ids}")
        good = sorted(pages) == ids
        began, before = time.time(), len(program.told)
        done = program.until_done(program.call("bulk_update_pages", **asked, confirm=shown["confirm"]))
        print(f"{done['outcome']}, {done['applied']} of {done['pages']} in {time.time() - began:.0f} s; {len(program.told) - before} notices of progress, the last {program.told[-1:]}")
        tagged = sum("many" in page["tags"] for page in wiki.state()["fields"].values())
        good &= done["outcome"] == "applied" and tagged == len(ids) and len(program.told) > before
        good &= program.taken_back(done["callId"])
        highest = program.memory("VmHWM")
        print(f"memory: {idle:.1f} MB idle, {highest:.1f} MB highest, {highest - idle:.1f} MB above")
        program.end()
        return good & (highest - idle < 64) & same(state, wiki.state())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", required=True)
    options.add_argument("--wiki", required=True)
    options.add_argument("--key-file", required=True)
    options.add_argument("--prefix", default="moved-part")
    options.add_argument("--locales", default="en", help="of a wiki with namespaces: en,de; the first moves", type=lambda text: text.split(","))
    options.add_argument("--database", help="postgres://user:password@host/name")
    options.add_argument("--steps", default=STEPS, type=lambda text: text.split(","))
    options.add_argument("--kill-after", default=25, type=float, help="seconds")
    options.add_argument("--keep", action="store_true")
    options = options.parse_args()
    options.program = os.path.abspath(options.program)
    with open(options.key_file) as file:
        wiki = Wiki(options.wiki, file.read().strip(), options.database)
    there = wiki.below(options.prefix)
    assert options.keep or not there, f"there are pages below {options.prefix}"
    good = True
    try:
        if not there:
            print("making pages", flush=True)
            seed(wiki, options.prefix, options.locales)
        print(f"{len(wiki.list())} pages in the wiki", flush=True)
        trial = Trial(options, wiki)
        for step in options.steps:
            print(f"== {step}", flush=True)
            with tempfile.TemporaryDirectory() as directory:
                try:
                    went = bool(getattr(trial, step)(directory))
                except Exception:
                    traceback.print_exc()
                    went = False
            print(f"== {step}: {'as promised' if went else 'NOT as promised'}", flush=True)
            good &= went
    finally:
        for page in [] if options.keep else wiki.below(options.prefix):
            wiki.delete(page)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What another user deletes, changes, moves and makes on a real Wiki.js comes back out of the mirror.

    tests/real/bin.py --program target/release/wikijs-gate --wiki http://127.0.0.1:3100 --key-file FILE \\
        --database postgres://user:password@host/name

FILE holds a key with full access, with which a user of its own is made (and removed), who writes by the
wiki's own interface. Pages are made below one first segment, which must have none. All columns of their
rows but id, dates, author and creator are compared, with their tags and links. The steps, all of them
unless --steps names some:

    vandal   50 pages deleted, 40 changed, 20 moved and ten made, while the server is off for half of it:
             all of it is told, and is back after `bin restore --path --at`, called until nothing differs
    author   with `--by`: what that user changed and made; the wiki does not tell who deletes or moves a page
    tags     a tag is deleted in the administration, which gives its pages no new date
    one      `bin restore PAGE`, twice
    killed   in each of --kills rounds a restore is killed (SIGKILL) at a random moment and called again

--pages says how many pages are made, --size their bytes; --fill adds so many by SQL, whose rendered text is then
not compared. --keep leaves the pages for a next run. Figures of the first look go to standard output. Ends with 1
if anything differs.
"""

import argparse
import hashlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
from datetime import datetime, timezone

from moved_part import Wiki

STEPS = ["vandal", "author", "tags", "one", "killed"]
FIRST, NAME = "bin-trial", "Vandal of the trial"
COLUMNS = """select p."localeCode" || ':' || p.path as place, to_jsonb(p) - 'id' - 'createdAt' - 'updatedAt' - 'authorId' - 'creatorId' as row,
    (select json_agg(t.tag order by t.tag) from "pageTags" pt join tags t on t.id = pt."tagId" where pt."pageId" = p.id) as tags,
    (select json_agg(distinct l."localeCode" || ':' || l.path) from "pageLinks" l where l."pageId" = p.id) as links from pages p"""


class Trial:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        with open(options.key_file) as file:
            self.owner = Wiki(options.wiki, file.read().strip(), options.database)
        self.random = random.Random(options.seed)
        settings = os.path.join(directory, "config.toml")
        with open(settings, "w") as file:
            file.write("rules_off = [\"large-sets\"]\n")
        os.chmod(settings, 0o600)
        self.env = {
            "PATH": os.environ["PATH"], "HOME": directory, "WIKI_CONFIG": settings, "WIKI_BASE_URL": options.wiki, "WIKI_MIRROR": "on",
            "WIKI_API_TOKEN": self.owner.key, "WIKI_MUTATIONS_ENABLED": "true", "WIKI_MUTATION_DRY_RUN": "false",
            "WIKI_CONFIRM": "preview", "WIKI_AUDIT_DIR": os.path.join(directory, "audit"), "WIKI_INDEX_LOAD": "100",
        }
        self.server, self.touched = None, set()

    # The program.

    def serve(self, *arguments):
        log = open(os.path.join(self.directory, "log"), "a")
        self.server = subprocess.Popen([self.options.program, "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, env=self.env)

    def stop(self):
        self.server.kill()
        self.server.wait()

    def command(self, *arguments, may_fail=False):
        done = subprocess.run([self.options.program, *arguments], env=self.env, capture_output=True, text=True)
        assert may_fail or done.returncode == 0, (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def bin(self):
        return json.loads(self.command("bin", "list", "--path", FIRST, "--json").stdout)["pages"]

    def restored(self, at, *more):
        """Calls `bin restore` until nothing differs; the number of calls that sent something."""
        for calls in range(20):
            done = self.command("bin", "restore", "--path", FIRST, "--at", at, "--yes", "--json", *more, may_fail=True)
            if "NOTHING_TO_UNDO" in done.stdout + done.stderr or "Nothing of that part differs" in done.stdout + done.stderr:
                return calls
            if done.returncode:
                print("   ", (done.stdout + done.stderr)[:300], flush=True)
        raise AssertionError("it never ends")

    # The wiki.

    def state(self):
        """All that must come back, by place, once the wiki has rendered what was sent."""
        before = None
        while (now := self.state_now()) != before:
            before = now
            time.sleep(1.5)
        return now

    def state_now(self):
        columns = COLUMNS
        if self.options.fill:
            # What was made by SQL was never rendered, and so has no links.
            columns = columns.replace("- 'id'", "- 'id' - 'render' - 'toc'")
            columns = columns.replace("= p.id) as links", f"= p.id and p.path not like '{FIRST}/f%') as links")
        query = f"select json_agg(x) from ({columns} where p.path like '{FIRST}/%') x"
        rows = json.loads("\n".join(self.owner.rows(query)) or "null") or []
        return {row["place"]: row for row in rows}

    def pages(self):
        return {page["path"]: page["id"] for page in self.owner.list() if page["path"].startswith(f"{FIRST}/")}

    def seed(self):
        count, words = self.options.pages, "A line of text that says a little, and then a little more.\n"
        for number in range(count):
            other = self.random.randrange(count)
            text = f"# Page {number}\n\n[other](/en/{FIRST}/p{other}) [near](./p{(number + 1) % count})\n\n"
            text += words * max(1, (self.options.size - len(text)) // len(words))
            more = [
                {"tags": ["one", "Two words"], "description": "Ein \"d\" – ü"},
                {"scriptCss": "body { color: red }", "scriptJs": "window.x = 1;\n"},
                {"publishStartDate": "2020-01-01T00:00:00.000Z", "publishEndDate": "2090-01-01T00:00:00.000Z"},
                {"isPublished": False},
                {"editor": "ckeditor", "content": f"<h1>Page {number}</h1><p><a href=\"/en/{FIRST}/p{other}\">other</a></p>"},
            ][number % 5] if number % 3 == 0 else {}
            self.owner.create(f"{FIRST}/p{number}", more.pop("content", text), title=f"Page {number}", **more)

    def fill(self):
        """More pages, by SQL; the wiki never rendered them."""
        rows, words = [], "A line of text that says a little, and then a little more.\\n"
        for number in range(self.options.fill):
            path = f"{FIRST}/f{number}"
            digest = hashlib.sha1(f"en|{path}|".encode()).hexdigest()
            text = f"# Filled {number}\\n\\n[other](/en/{FIRST}/f{number * 7 % self.options.fill})\\n\\n" + words * (self.options.size // len(words))
            now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            rows.append("\t".join([path, digest, f"Filled {number}", "", "f", "t", "\\N", "", "", text, "<p>x</p>", "[]", "markdown", now, now, "markdown", "en", "1", "1", '{"js":"","css":""}']))
        head = """copy pages(path,hash,title,description,"isPrivate","isPublished","privateNS","publishStartDate","publishEndDate",content,render,toc,
            "contentType","createdAt","updatedAt","editorKey","localeCode","authorId","creatorId",extra) from stdin;""".replace("\n", " ")
        script = head + "\n" + "\n".join(rows) + "\n\\.\n"
        subprocess.run(["psql", "-q", self.options.database], input=script, text=True, check=True)

    def other_user(self):
        """A user of the wiki who signs in there as people do."""
        email, password = f"v{random.getrandbits(32):x}@example.com", f"p{random.getrandbits(64):x}"
        made = ask_whole(
            self.owner,
            "mutation($email: String!, $name: String!, $password: String!) { users { create(email: $email, name: $name, passwordRaw: $password,"
            ' providerKey: "local", groups: [1], mustChangePassword: false, sendWelcomeEmail: false) { responseResult { succeeded message } } } }',
            email=email, name=NAME, password=password,
        )
        assert made["users"]["create"]["responseResult"]["succeeded"], made
        found = ask_whole(self.owner, "query($email: String!) { users { search(query: $email) { id } } }", email=email)
        self.account = (email, password)
        return found["users"]["search"][0]["id"]

    def sign_in(self):
        """A sign-in of the wiki ends after half an hour."""
        told = ask_whole(
            self.owner,
            'mutation($name: String!, $password: String!) { authentication { login(username: $name, password: $password, strategy: "local") { jwt responseResult { message } } } }',
            name=self.account[0], password=self.account[1],
        )["authentication"]["login"]
        assert told["jwt"], told
        self.vandal = Wiki(self.options.wiki, told["jwt"], self.options.database)

    def vandalise(self, deleted, changed, moved, made):
        """Pages picked at random are deleted, changed and moved, and others are made."""
        self.sign_in()
        there = self.pages()
        paths = self.random.sample(sorted(there), deleted + changed + moved)
        steps = [("delete", path) for path in paths[:deleted]]
        steps += [("change", path) for path in paths[deleted : deleted + changed]]
        steps += [("move", path) for path in paths[deleted + changed :]]
        steps += [("make", f"{FIRST}/new{self.random.getrandbits(40):x}") for _ in range(made)]
        self.random.shuffle(steps)
        self.touched |= {path for step, path in steps if step == "change"}
        for step, path in steps:
            if step == "delete":
                self.vandal.delete(there[path])
            elif step == "change":
                self.change(there[path])
            elif step == "move":
                to = f"{FIRST}/moved/{path.rsplit('/')[-1]}"
                self.move(there[path], to)
                self.touched.add(to)
            else:
                self.vandal.create(path, "# Mine\n", title="Mine")
        return {path for step, path in steps if step == "delete"}

    def change(self, page):
        """What the wiki's own editor sends: some fields are lost that way."""
        done = self.vandal.ask(
            """mutation($id: Int!, $content: String!) { pages { update(id: $id, title: "Theirs", content: $content, isPublished: true,
            tags: ["theirs"], description: "") { responseResult { succeeded message } } } }""",
            id=page, content=f"# Theirs {self.random.random()}\n",
        )
        assert done["update"]["responseResult"]["succeeded"], done

    def move(self, page, to):
        done = self.vandal.ask(
            """mutation($id: Int!, $to: String!) { pages { move(id: $id, destinationPath: $to, destinationLocale: "en")
            { responseResult { succeeded message } } } }""",
            id=page, to=to,
        )
        assert done["move"]["responseResult"]["succeeded"], done

    # The steps.

    def first_look(self):
        """The server looks by itself, and tells how often it asked and how long the wiki took."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        began = time.time()
        self.serve("--http", address)
        while not (numbers := metrics(address)).get("wikijs_gate_mirror_look_age_seconds"):
            assert self.server.poll() is None and time.time() - began < 1800, "it never looks"
            time.sleep(0.2)
        took = time.time() - began
        with open(f"/proc/{self.server.pid}/status") as file:
            memory = int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) / 1024
        self.stop()
        requests, share = (float(numbers[f"wikijs_gate_wiki_request_duration_seconds_{one}"]) for one in ("count", "sum"))
        print(f"{requests:.0f} requests, the wiki at work for {100 * share / took:.0f} % of the time, {memory:.0f} MB of memory at most", flush=True)
        kept = subprocess.run(["du", "-sk", *mirrors(self.directory)], capture_output=True, text=True).stdout.split()
        print(f"first look: {took:.1f} s, {sum(int(size) for size in kept[::2]) / 1024:.1f} MB on the disk", flush=True)
        began = time.time()
        self.bin()
        print(f"a look without a change: {time.time() - began:.1f} s", flush=True)

    def now(self):
        """A time at which the mirror has seen all that is there."""
        self.bin()
        time.sleep(1.1)
        return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def vandal_step(self):
        before, at = self.state(), self.now()
        time.sleep(1.1)
        self.serve()
        deleted = self.vandalise(25, 20, 10, 5)
        self.bin()
        self.stop()
        touched = set(self.touched)
        deleted |= self.vandalise(25, 20, 10, 5)
        told = {page["path"] for page in self.bin()}
        # What was moved first and deleted then lies in the bin under its last path.
        good = len(told) == 50
        print(f"  {len(told)} of {len(deleted)} deletions are told", flush=True)
        began = time.time()
        calls = self.restored(at)
        print(f"  brought back by {calls} calls, {time.time() - began:.1f} s", flush=True)
        # The pages that were made since are deleted. What was changed or moved when the server looked, and deleted later,
        # is back as it was before, and stays in the bin as it was last.
        left = {page["path"] for page in self.bin()}
        made = {path for path in left if "/new" in path}
        others = left - made
        print(f"  {len(left)} pages are in the bin; changed or moved, and then deleted, are {sorted(others)}: {others == touched & deleted - made}", flush=True)
        return good & same(before, self.state()) & (len(made) == 10) & (others == touched & deleted - made)

    def author_step(self):
        before, at = self.state(), self.now()
        time.sleep(1.1)
        self.vandalise(0, 40, 20, 10)
        calls = self.restored(at, "--by", NAME)
        print(f"  brought back by {calls} calls", flush=True)
        # Nobody can tell who moved a page: these stay where they are.
        moved = {path: page for path, page in self.pages().items() if "/moved/" in path}
        for path, page in moved.items():
            self.move(page, path.replace("/moved/", "/"))
        print(f"  {len(moved)} stay where they were moved to", flush=True)
        return same(before, self.state()) & (len(moved) == 20)

    def tags_step(self):
        before, at = self.state(), self.now()
        time.sleep(1.1)
        tags = self.owner.ask("{ pages { tags { id tag } } }")["tags"]
        tag = next(tag["id"] for tag in tags if tag["tag"] == "one")
        self.owner.ask("mutation($id: Int!) { pages { deleteTag(id: $id) { responseResult { succeeded } } } }", id=tag)
        calls = self.restored(at)
        print(f"  brought back by {calls} calls", flush=True)
        return same(before, self.state()) & (calls > 0)

    def one_step(self):
        self.sign_in()
        # A page that nobody saw at its last place lies in the bin under an earlier one.
        before, _ = self.state(), self.now()
        path, other = self.random.sample(sorted(self.pages()), 2)
        there = self.pages()
        self.vandal.delete(there[path])
        self.vandal.delete(there[other])
        self.command("bin", "restore", path, "--yes")
        self.command("bin", "restore", other, "--yes")
        return same(before, self.state())

    def killed_step(self):
        good = True
        for number in range(self.options.kills):
            before, at = self.state(), self.now()
            time.sleep(1.1)
            self.vandalise(3, 3, 2, 2)
            run = subprocess.Popen(
                [self.options.program, "bin", "restore", "--path", FIRST, "--at", at, "--yes", "--json"],
                env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            after = self.random.uniform(0, self.options.kill_within)
            try:
                run.wait(after)
                ended = "had ended"
            except subprocess.TimeoutExpired:
                run.kill()
                run.wait()
                ended = "was killed"
            calls = self.restored(at)
            now = self.state()
            is_same = before == now
            print(f"  {number}: {ended} after {after:.2f} s, then {calls} calls: {'as before' if is_same else 'DIFFERS'}", flush=True)
            if not is_same:
                same(before, now)
            good &= is_same
        return good

    def run(self):
        good = True
        there = self.pages()
        assert self.options.keep or not there, f"there are pages below {FIRST}"
        user = self.other_user()
        try:
            if not there:
                print("making pages", flush=True)
                self.seed()
                if self.options.fill:
                    self.fill()
            self.first_look()
            for step in self.options.steps:
                print(f"== {step}", flush=True)
                try:
                    went = bool(getattr(self, f"{step}_step")())
                except Exception:
                    traceback.print_exc()
                    went = False
                print(f"== {step}: {'as promised' if went else 'NOT as promised'}", flush=True)
                good &= went
            verify = self.command("audit", "verify", may_fail=True)
            print(verify.stdout.strip().splitlines()[-1:], flush=True)
            good &= verify.returncode == 0
        finally:
            if self.server:
                self.stop()
            if not self.options.keep:
                self.owner.rows(f"delete from pages where path like '{FIRST}/f%'")
                for page in self.pages().values():
                    self.owner.delete(page)
            ask_whole(self.owner, "mutation($id: Int!) { users { delete(id: $id, replaceId: 1) { responseResult { succeeded message } } } }", id=user)
        return good


def same(before, after):
    """True if nothing differs; what does is told by its columns."""
    differ = sorted(place for place in before.keys() | after.keys() if before.get(place) != after.get(place))
    print(f"  of {len(before)} pages {len(differ)} differ", flush=True)
    for place in differ[:10]:
        one, other = before.get(place), after.get(place)
        if not (one and other):
            print(f"    {place}: {'is gone' if one else 'is there'}")
            continue
        columns = [name for name in one["row"] if one["row"][name] != other["row"].get(name)]
        columns += [name for name in ("tags", "links") if one[name] != other[name]]
        print(f"    {place}: {', '.join(columns)}")
    return not differ


def ask_whole(wiki, query, **variables):
    """An answer of the wiki that is not about pages."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {wiki.key}"}
    answer = json.load(urllib.request.urlopen(urllib.request.Request(f"{wiki.address}/graphql", body, headers), timeout=60))
    assert not answer.get("errors"), answer
    return answer["data"]


def metrics(address):
    """The metrics of a server that tells them by now, without labels."""
    try:
        told = urllib.request.urlopen(f"http://{address}/metrics", timeout=30).read().decode()
    except OSError:
        return {}
    return dict(line.rsplit(" ", 1) for line in told.splitlines() if "{" not in line and not line.startswith("#"))


def mirrors(directory):
    audit = os.path.join(directory, "audit")
    return [path for path in (os.path.join(audit, wiki, "mirror") for wiki in os.listdir(audit)) if os.path.isdir(path)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--program", "--wiki", "--key-file", "--database"):
        options.add_argument(name, required=True)
    options.add_argument("--pages", default=300, type=int)
    options.add_argument("--fill", default=0, type=int)
    options.add_argument("--size", default=5000, type=int)
    options.add_argument("--steps", default=STEPS, type=lambda text: text.split(","))
    options.add_argument("--kills", default=50, type=int)
    options.add_argument("--kill-within", default=3.0, type=float, help="seconds")
    options.add_argument("--seed", default=0, type=int)
    options.add_argument("--keep", action="store_true")
    options = options.parse_args()
    options.program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as directory:
        return 0 if Trial(options, directory).run() else 1


if __name__ == "__main__":
    sys.exit(main())

"""Several replicas behind nginx under load, while replicas are killed and stopped and the database restarts.

A counting proxy stands before the embedded wiki. Every change adds a line of its own to a page, so that at the end
can be told what was sent, how often, and what became of it. Prints `passed STEP` and `failed STEP: why`; the rest of
what it saw goes to standard error. Needs Python alone, nginx and, for the store in a database, PostgreSQL's programs;
a reviewer decides in a browser where there are Node and Chromium.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "2026-07-28"
MARK = re.compile(r"mark-\d+-\d+")
LAST = "The last line."


def say(text):
    print(f"{time.monotonic() - BEGAN:7.1f} s  {text}", file=sys.stderr, flush=True)


BEGAN = time.monotonic()
FAULTS = []


def step(name, fault=None):
    print(f"failed {name}: {fault}" if fault else f"passed {name}", flush=True)
    if fault:
        FAULTS.append(name)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def until(what, is_so, patience=60):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if is_so():
                return
        time.sleep(0.05)
    raise SystemExit(f"{what} did not come in {patience} s")


class Wiki:
    """The embedded wiki, and the proxy before it, which keeps every change that is sent."""

    def __init__(self, program, directory):
        self.process = subprocess.Popen(
            [program, "demo", "--wiki", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True,
            stderr=open(directory / "wiki.log", "w"))
        told = json.loads(self.process.stdout.readline())
        self.key = told["keys"]["scripter"]
        host, port = told["address"].removeprefix("http://").split(":")
        self.sent, lock = [], threading.Lock()
        outer = self

        class Proxy(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if b"mutation" in body:
                    message = json.loads(body)
                    if re.search(r"^\s*mutation\b", str(message.get("query", "")), re.MULTILINE):
                        with lock:
                            outer.sent.append((time.monotonic(), message))
                own = http.client.HTTPConnection(host, int(port), timeout=60)
                headers = {name: value for name, value in self.headers.items()
                           if name.lower() not in ("host", "connection", "accept-encoding")}
                own.request(self.command, self.path, body, headers)
                answer = own.getresponse()
                text = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                        self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
                own.close()

            do_GET = do_POST = pass_on

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 512
            daemon_threads = True

            def handle_error(self, *_):
                pass  # A replica that was killed is gone before its answer.

        self.proxy = Server(("127.0.0.1", 0), Proxy)
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.proxy.server_port}"

    def page(self, path):
        question = json.dumps({"query": "query($path: String!) { pages { singleByPath(path: $path, locale: \"en\") "
                                        "{ id content } } }", "variables": {"path": path}})
        own = http.client.HTTPConnection("127.0.0.1", self.proxy.server_port, timeout=60)
        own.request("POST", "/graphql", question, {
            "content-type": "application/json", "authorization": f"Bearer {self.key}"})
        return json.loads(own.getresponse().read())["data"]["pages"]["singleByPath"]


class Database:
    """A cluster of our own, on loopback."""

    def __init__(self, directory):
        homes = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        self.bin, self.data, self.port = homes[-1], directory / "postgres", free_port()
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        self.as_user = []
        if os.getuid() == 0:
            shutil.chown(self.data, "postgres", "postgres")
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        (self.data / "password").write_text("a password of the tests\n")
        shutil.chown(self.data / "password", "postgres" if self.as_user else None, None) if self.as_user else None
        self.run("initdb", "--username=gate", f"--pwfile={self.data}/password", "--auth=scram-sha-256",
                 "--encoding=UTF8", "--locale=C.UTF-8", f"--pgdata={self.data}/data")
        self.control("start")
        self.run("createdb", "--host=127.0.0.1", f"--port={self.port}", "--username=gate", "gate",
                 env={"PGPASSWORD": "a password of the tests"})

    def run(self, program, *arguments, env=None):
        done = subprocess.run([*self.as_user, self.bin / program, *arguments], cwd="/", text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
        if done.returncode:
            raise SystemExit(f"{program}: {done.stdout}")

    def control(self, doing):
        options = f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=60"
        self.run("pg_ctl", doing, "--wait", "--mode=fast", f"--pgdata={self.data}/data",
                 f"--log={self.data}/log", f"--options={options}")


class Trap:
    """A proxy before the database that stops a process (SIGSTOP) as soon as an attempt passes, for longer than a lease."""

    def __init__(self, port):
        self.target, self.process, self.delay, self.stopped = port, None, 0, threading.Event()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def set(self, process, delay):
        self.stopped.clear()
        self.process, self.delay = process, delay

    def sprang(self, thread):
        """Waits until the process is stopped, or until the write in `thread` ended without an attempt; then nothing is stopped later."""
        while thread.is_alive():
            if self.stopped.wait(0.1):
                return True
        # An attempt that has passed stops the process after the delay, though the write has ended.
        return not self.taken() and self.stopped.wait(10)

    def accept(self):
        while True:
            own, _ = self.listener.accept()
            with contextlib.suppress(OSError):
                other = socket.create_connection(("127.0.0.1", self.target))
                for ends in ((own, other, True), (other, own, False)):
                    threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, source, target, is_question):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 20):
                process = is_question and b'"event":"attempt"' in data and self.taken()
                if process:
                    if self.delay is None:
                        process.send_signal(signal.SIGSTOP)  # Before the database has the attempt.
                        self.stopped.set()
                    else:
                        threading.Timer(self.delay, self.stop, [process]).start()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def taken(self):
        with self.lock:
            process, self.process = self.process, None
        return process

    def stop(self, process):
        process.send_signal(signal.SIGSTOP)
        self.stopped.set()


class Replica:
    def __init__(self, number, program, config, directory):
        self.number, self.port = number, free_port()
        self.log = directory / f"replica-{number}.log"
        self.log.write_text("")
        self.start_with = [program, "--config", config, "serve", "--http", f"127.0.0.1:{self.port}"]
        self.env = {**os.environ, "WIKI_LOG": "warn"}
        own = directory / f"own-{number}"
        if "postgres" in pathlib.Path(config).read_text():
            shutil.rmtree(own, ignore_errors=True)
            own.mkdir(mode=0o700)
            self.env["WIKI_AUDIT_DIR"] = str(own)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.start_with, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.log, "a"), env=self.env)

    def is_alive(self):
        if self.process.poll() is not None:
            raise SystemExit(f"replica {self.number} ended, see {self.log}")
        own = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        own.request("GET", "/healthz")
        return own.getresponse().status == 200

    def kill(self):
        self.process.kill()
        self.process.wait()


def nginx(directory, replicas):
    port = free_port()
    own = directory / "nginx"
    own.mkdir(exist_ok=True)
    servers = "\n".join(f"server 127.0.0.1:{replica.port} max_fails=1 fail_timeout=2s;" for replica in replicas)
    (own / "nginx.conf").write_text(f"""
worker_processes 1;
pid {own}/pid;
error_log {own}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {own}/body; proxy_temp_path {own}/proxy; fastcgi_temp_path {own}/f;
    uwsgi_temp_path {own}/u; scgi_temp_path {own}/s;
    upstream gate {{
        {servers}
    }}
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        location / {{
            proxy_pass http://gate;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_connect_timeout 2s;
            proxy_read_timeout 90s;
            # A request that a replica may have begun is given to no other one.
            proxy_next_upstream error;
        }}
    }}
}}
""")
    process = subprocess.Popen(["nginx", "-c", own / "nginx.conf", "-g", "daemon off;"])
    return port, process


class Reviewer:
    """Somebody who signed in by a link and decides in a browser."""

    def __init__(self, link, log):
        here = pathlib.Path(__file__).parent
        self.process = subprocess.Popen(["node", here / "reviewer.mjs", chromium(), link], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "w"))
        told = self.process.stdout.readline().strip()
        step("a reviewer signs in by a link", None if told == "signed in" else told or f"see {log}")

    def told(self, line):
        """Asked to apply a set by its id, or to `check` the record."""
        print(line, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip().removeprefix(f"{line} ")

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def chromium():
    return shutil.which("node") and (shutil.which("chromium") or shutil.which("chromium-browser")
                                     or shutil.which("google-chrome"))


class Refused(Exception):
    """The server said no, and why."""


class Lost(Exception):
    """No answer came: nobody knows what became of it."""


class Client:
    def __init__(self, port, token):
        self.port, self.token, self.count = port, token, 0

    def call(self, tool, arguments):
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "replicas", "version": "1"}}}}
        own = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            own.request("POST", "/mcp", json.dumps(message), {
                "content-type": "application/json", "accept": "application/json, text/event-stream",
                "authorization": f"Bearer {self.token}", "mcp-protocol-version": VERSION,
                "mcp-method": "tools/call", "mcp-name": tool})
            answer = own.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise Lost(repr(error)) from error
        finally:
            own.close()
        if answer.status in (502, 504):
            raise Lost(f"nginx: {answer.status}")
        if answer.status != 200:
            raise Refused(f"{answer.status}: {text[:300]}")
        if answer.getheader("content-type", "").startswith("text/event-stream"):
            messages = [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
            found = [one for one in messages if one.get("id") == self.count]
            if not found:
                raise Lost("the stream ended without an answer")
            told = found[0]
        else:
            told = json.loads(text)
        if "error" in told:
            raise Refused(json.dumps(told["error"])[:500])
        result = told["result"]
        if result.get("isError"):
            raise Refused(json.dumps(result.get("structuredContent") or result["content"])[:600])
        return result["structuredContent"]


class Load:
    """Clients that read and write until they are told to stop, and keep what they were told."""

    def __init__(self, port, token, pages, clients):
        self.port, self.token, self.pages = port, token, pages
        self.over = threading.Event()
        self.became, self.why, self.counts = {}, {}, Counter()
        self.took = defaultdict(list)
        self.odd = []
        self.threads = [threading.Thread(target=self.client, args=(number,)) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def client(self, number):
        chance = random.Random(number)
        client, count = Client(self.port, self.token), 0
        while not self.over.is_set():
            path = chance.choice(self.pages)
            kind = chance.random()
            began = time.monotonic()
            try:
                if kind < 0.6:
                    read = client.call("wikijs_get_page_by_path", {"path": path})
                    if LAST not in json.dumps(read):
                        self.odd.append(f"a read of {path} lacks its last line: {read}")
                    name = "read"
                elif kind < 0.95:
                    count += 1
                    name = self.write(client, "wikijs_update_page", f"mark-{number}-{count}", [path])
                else:
                    count += 1
                    paths = chance.sample(self.pages, 3)
                    name = self.write(client, "wikijs_bulk_update_pages", f"mark-{number}-{count}", paths)
            except Refused as refused:
                name = "read refused"
                self.counts[str(refused)[:120]] += 1
            except Lost:
                name = "read lost"
            self.counts[name] += 1
            self.took[name].append(time.monotonic() - began)
            # A client thinks for a while.
            self.over.wait(chance.random() * 2)

    def write(self, client, tool, mark, paths):
        edit = [{"oldText": LAST, "newText": f"{mark}\n{LAST}"}]
        arguments = {"edits": edit} if len(paths) == 1 else {"replaceAll": edit}
        ids = [self.pages_by[path] for path in paths]
        arguments |= {"id": ids[0]} if len(paths) == 1 else {"ids": ids}
        try:
            preview = client.call(tool, arguments)
            token = preview.get("confirm")
            if not token:
                self.odd.append(f"a preview without a token: {preview}")
                return "preview odd"
        except Refused as refused:
            self.why[mark] = str(refused)
            self.counts[str(refused)[:160]] += 1
            return "preview refused"
        except Lost:
            return "preview lost"
        return self.confirm(client, tool, {**arguments, "confirm": token}, mark, paths)

    def confirm(self, client, tool, arguments, mark, paths):
        self.became[mark] = ("unknown", paths)
        try:
            done = client.call(tool, arguments)
            self.became[mark] = ("applied" if done.get("outcome") == "applied" else "unknown", paths)
            return f"{len(paths)} written"
        except Refused as refused:
            text = str(refused)
            is_unknown = "OUTCOME_UNKNOWN" in text or "PARTLY_APPLIED" in text
            self.became[mark] = ("unknown" if is_unknown else "refused", paths)
            self.why[mark] = text
            return "write unknown" if is_unknown else "write refused"
        except Lost:
            return "write lost"

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(180)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--store", choices=["local", "postgres"], default="postgres")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--calm", action="store_true", help="kill and stop nothing: for figures")
    given = parser.parse_args()
    directory = given.directory.resolve()
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    wiki = Wiki(given.program, directory)
    database = Database(directory) if given.store == "postgres" else None
    processes = [wiki.process]
    replicas = []
    try:
        run(given, directory, wiki, database, processes, replicas)
    finally:
        for replica in replicas:
            if replica.process:
                with contextlib.suppress(OSError):
                    replica.process.send_signal(signal.SIGCONT)
                replica.process.kill()
        for process in processes:
            process.terminate()  # Killed, nginx leaves a worker behind, which holds what the run writes to.
        if database:
            database.control("stop")
    sys.exit(1 if FAULTS else 0)


def run(given, directory, wiki, database, processes, replicas):
    (directory / "key").write_text(wiki.key)
    (directory / "key").chmod(0o600)
    state = directory / "state"
    state.mkdir(mode=0o700)
    settings = [
        f'base_url = "{wiki.address}"', f'api_token_file = "{directory}/key"', f'audit_dir = "{state}"',
        "mutations_enabled = true", "mutation_dry_run = false", 'confirm = "preview"', 'index = "off"',
        'toolsets = "pages,undo,proposals,drafts"', f'serve_tokens_file = "{directory}/tokens"',
        # Else each server leads browsers to a name of its own.
        'serve_trusted_proxies = "127.0.0.1"',
    ]
    if database:
        (directory / "password").write_text("a password of the tests\n")
        (directory / "password").chmod(0o600)
        settings += [f'store = "postgres://gate@127.0.0.1:{database.port}/gate?sslmode=disable"',
                     f'store_password_file = "{directory}/password"']
    config = directory / "config.toml"
    config.write_text("\n".join(settings) + "\n")

    def command(*arguments, good=True, inputs=""):
        done = subprocess.run([given.program, "--config", config, *arguments], text=True, input=inputs,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ})
        if good and done.returncode:
            raise SystemExit(f"{arguments}: {done.returncode} {done.stdout}{done.stderr}")
        return done

    if database:
        command("store", "migrate")
    token = re.search(r"wjs_\S+", command("token", "new", "load").stdout).group(0)
    careful = re.search(r"wjs_\S+", command("token", "new", "careful", "--dry-run").stdout).group(0)
    asking = re.search(r"wjs_\S+", command("token", "new", "asking").stdout).group(0)
    replicas += [Replica(number, given.program, config, directory) for number in range(given.replicas)]
    for replica in replicas:
        replica.start()
    for replica in replicas:
        until(f"replica {replica.number}", replica.is_alive)
    port, proxy = nginx(directory, replicas)
    processes.append(proxy)
    client = Client(port, token)

    def is_served():
        try:
            return client.call("wikijs_get_page_tree", {})
        except (Lost, Refused):
            return False

    until("nginx", is_served)
    pages = [f"load/page-{number}" for number in range(given.pages)]
    # Nobody else writes there, so what is proposed is not outdated.
    own = [f"decided/page-{number}" for number in range(10)]
    ids = {}
    for path in [*pages, *own]:
        arguments = {"path": path, "title": path, "content": f"# Load\n\n{LAST}\n"}
        preview = client.call("wikijs_create_page", arguments)
        client.call("wikijs_create_page", {**arguments, "confirm": preview["confirm"]})
        ids[path] = wiki.page(path)["id"]
    step("a preview is confirmed at another replica")
    say(f"{given.pages} pages made; {given.clients} clients for {given.seconds} s")

    Load.pages_by = ids
    began_sending = len(wiki.sent)
    load = Load(port, token, pages, given.clients)
    began = time.monotonic()
    decided = []
    if given.calm:
        time.sleep(given.seconds)
    else:
        reviewer = None
        if database and chromium():
            told = command("token", "new", "ann", "--reviewer", "--url", f"http://127.0.0.1:{port}").stdout
            reviewer = Reviewer(re.search(r"http://\S+", told).group(0), directory / "reviewer.log")
        own_ids = {path: ids[path] for path in own}
        deciding = Deciding(command, Client(port, careful), Client(port, asking), reviewer, own_ids, decided)
        disturb(given, replicas, database, command, wiki, deciding)
        if reviewer:
            for replica in replicas:
                until(f"replica {replica.number}", replica.is_alive)
            told = reviewer.told("check")
            step("a check of the record is answered by the server that made it", None if told == "holds" else told)
            reviewer.end()
            in_browser = sum(by == "browser" and code == 0 for _, _, code, by in decided)
            say(f"{in_browser} sets applied in the browser")
            step("a reviewer decides in the browser", None if in_browser else "none was applied")
    load.end()
    passed = time.monotonic() - began
    if database and not given.calm:
        stopped_at_attempts(given, directory, database, replicas, token, client, load, wiki)
    for replica in replicas:
        until(f"replica {replica.number}", replica.is_alive)
    calls = sum(count for name, count in load.counts.items() if name in
                ("read", "1 written", "3 written", "write refused", "preview refused", "write unknown"))
    say(f"{passed:.0f} s, {calls} calls answered, {calls / passed:.1f} a second")
    for name, count in load.counts.most_common(40):
        took = sorted(load.took.get(name, []))
        median = f", median {took[len(took) // 2] * 1000:.0f} ms" if took else ""
        say(f"{count:6} {name}{median}")
    judge(load, wiki, began_sending, [*pages, *own], command, decided)


def preview(client, arguments):
    """A preview of a replica that has just been woken, and may still look for its database."""
    end = time.monotonic() + 30
    while True:
        try:
            return client.call("wikijs_update_page", arguments)
        except Refused:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def stopped_at_attempts(given, directory, database, replicas, token, client, load, wiki):
    """A replica of its own is stopped right when it records an attempt, or shortly after, until others have its lease."""
    trap = Trap(database.port)
    config = directory / "trapped.toml"
    config.write_text((directory / "config.toml").read_text().replace(f":{database.port}/", f":{trap.port}/"))
    replica = Replica(len(replicas), given.program, config, directory)
    replicas.append(replica)
    replica.start()
    until("the trapped replica", replica.is_alive)
    path, trapped = load.pages[0], Client(replica.port, token)
    faults = []
    for turn, delay in enumerate([None, 0, 0.001, 0.002, 0.004, 0.008]):
        marks = [f"mark-{who}-{turn}" for who in (997, 998)]
        arguments = {"id": load.pages_by[path], "edits": [{"oldText": LAST, "newText": f"{marks[0]}\n{LAST}"}]}
        # One that was just woken may refuse a write, since it looks for its database.
        for _ in range(3):
            confirmed = {**arguments, "confirm": preview(trapped, arguments)["confirm"]}
            trap.set(replica.process, delay)
            sent_before = len(wiki.sent)
            thread = threading.Thread(
                target=load.confirm, args=(trapped, "wikijs_update_page", confirmed, marks[0], [path]))
            thread.start()
            if trap.sprang(thread):
                break
        else:
            faults.append(f"no attempt passed in turn {turn}: {load.why.get(marks[0])}")
            continue
        began = time.monotonic()
        # Waits for the page until the lease of the other, 20 s, is over.
        load.write(client, "wikijs_update_page", marks[1], [path])
        time.sleep(max(0, began + 22 - time.monotonic()))
        replica.process.send_signal(signal.SIGCONT)
        thread.join(120)
        became = [load.became.get(mark, ("no preview",))[0] for mark in marks]
        sent = sum(marks[0] in json.dumps(message) for _, message in wiki.sent[sent_before:])
        say(f"stopped {'before' if delay is None else delay} an attempt: {became[0]}, sent {sent}; the other: {became[1]}")
        if delay is None and sent:
            faults.append(f"{marks[0]} was sent by a replica that had lost its lease")
        if became[1] != "applied":
            faults.append(f"the other replica's write was {became[1]}: {load.why.get(marks[1])}")
    step("a replica that is stopped at its attempt sends nothing later", "; ".join(faults) or None)


class Deciding:
    """People who decide what waits, in turns: an operator by a command, a reviewer in the browser."""

    def __init__(self, command, careful, client, reviewer, ids, decided):
        self.command, self.careful, self.client, self.reviewer = command, careful, client, reviewer
        self.ids, self.decided, self.turns = ids, decided, 0

    def decide(self, turn, path):
        mark = f"mark-999-{turn}"
        arguments = {"id": self.ids[path], "edits": [{"oldText": LAST, "newText": f"{mark}\n{LAST}"}]}
        self.turns += 1
        in_browser = self.reviewer and self.turns % 2 == 0
        try:
            if in_browser:
                asked = self.client.call("wikijs_update_page", {**arguments, "propose": True})
                told = self.reviewer.told(asked["proposal"])
                self.decided.append((mark, path, 0 if told == "applied" else 1, "browser"))
                say(f"a reviewer applies a proposal in the browser: {told[:300]}")
            else:
                preview = self.careful.call("wikijs_update_page", arguments)
                done = self.command("proposals", "apply", preview["proposal"], "--yes", good=False)
                self.decided.append((mark, path, done.returncode, "command"))
                say(f"an operator applies a proposal: exit {done.returncode} {done.stderr.strip()[:200]}")
        except (Refused, Lost, KeyError) as error:
            say(f"a proposal: {error!r}"[:300])


def disturb(given, replicas, database, command, wiki, deciding):
    """Kills and stops replicas, restarts the database, pauses, and has people decide, until the time is over."""
    end = time.monotonic() + given.seconds
    chance = random.Random(7)
    restarts = 3 if database else 0
    turn = 0

    def left():
        return end - time.monotonic()

    while left() > 0:
        turn += 1
        replica = replicas[turn % len(replicas)]
        kind = ["kill", "decide", "stop", "restart", "pause"][turn % 5]
        if kind == "kill":
            say(f"kill -9 of replica {replica.number}")
            replica.kill()
            time.sleep(chance.random())
            replica.start()
        elif kind == "stop" and left() > 40:
            length = chance.choice([2, 25])
            say(f"SIGSTOP of replica {replica.number} for {length} s")
            replica.process.send_signal(signal.SIGSTOP)
            time.sleep(length)
            replica.process.send_signal(signal.SIGCONT)
        elif kind == "restart" and restarts:
            restarts -= 1
            say("the database restarts")
            database.control("restart")
        elif kind == "pause":
            told = command("pause", "a test", good=False)
            if told.returncode:
                say(f"pause: {told.stderr.strip()}")
            else:
                time.sleep(1)
                before = len(wiki.sent)
                time.sleep(2)
                if len(wiki.sent) > before:
                    load_fault = [MARK.findall(json.dumps(sent[1])) for sent in wiki.sent[before:]]
                    step("nothing is sent while writes are paused", f"{len(load_fault)} were sent")
                else:
                    step("nothing is sent while writes are paused")
                until("resume", lambda: command("resume", good=False).returncode == 0)
        elif kind == "decide":
            deciding.decide(turn, chance.choice(sorted(deciding.ids)))
        time.sleep(min(max(left(), 0), 1 + chance.random() * 4))
    for replica in replicas:
        replica.process.send_signal(signal.SIGCONT)


def judge(load, wiki, began_sending, pages, command, decided):
    step("every client came to its end", None if not any(t.is_alive() for t in load.threads) else "some hang")
    step("no answer was odd", "; ".join(load.odd[:3]) or None)
    # What is still open of killed replicas is settled by the next command that needs the page, or by a start.
    sent = [message["variables"] for _, message in wiki.sent[began_sending:]]
    # A set that is taken back writes an old text again, behind its own; so only two in a row are one sent twice. With
    # another one between them a line would be missing, which is looked for below.
    last, twice = {}, []
    for variables in sent:
        if last.get(variables.get("id")) == variables:
            twice.append(json.dumps(variables))
        last[variables.get("id")] = variables
    step("nothing was sent twice", f"{len(twice)} changes, such as {twice[0][:300]}" if twice else None)
    content = {path: wiki.page(path)["content"] for path in pages}
    faults, totals = [], Counter()
    for mark, (became, paths) in load.became.items():
        there = sum(content[path].count(f"{mark}\n") for path in paths)
        elsewhere = sum(text.count(f"{mark}\n") for text in content.values()) - there
        totals[became] += 1
        if elsewhere or there > len(paths):
            faults.append(f"{mark} ({became}) stands {there + elsewhere} times")
        if became == "applied" and there != len(paths):
            faults.append(f"{mark} was told as applied and stands {there} times of {len(paths)}")
        if became == "refused" and there:
            faults.append(f"{mark} was told as refused and stands {there} times: {load.why[mark][:300]}")
    for mark, path, code, _ in decided:
        there = content[path].count(f"{mark}\n")
        totals[f"decided, {code}"] += 1
        if there != 1 and code == 0 or there > 1:
            faults.append(f"{mark}, which was decided with {code}, stands {there} times")
    say(f"changes: {dict(totals)}; {len(sent)} sent")
    step("all answers were true and nothing was lost", f"{len(faults)}: " + "; ".join(faults[:5]) if faults else None)
    known = set(load.became) | {mark for mark, *_ in decided}
    stray = {mark for text in content.values() for mark in MARK.findall(text)} - known
    step("nothing stands that nobody confirmed", f"{sorted(stray)[:5]}" if stray else None)
    verified = command("audit", "verify", good=False)
    step("every chain is verified", None if verified.returncode == 0 else
         f"exit {verified.returncode}: {verified.stdout[-1500:]} {verified.stderr[-500:]}")
    listed = command("audit", "list", "--json", "--limit", "200", good=False)
    step("the record is listed", None if listed.returncode == 0 else listed.stderr[-500:])


if __name__ == "__main__":
    main()

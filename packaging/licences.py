#!/usr/bin/env python3
"""Prints the licences of all that is compiled into the program: licences.py TARGET.

Each text comes once, with the crates that it is of.
"""

import json
import subprocess
import sys
from pathlib import Path

PREFIXES = ("licen", "copying", "notice", "unlicense")


def texts(crate: Path) -> list[Path]:
    found = [path for path in crate.iterdir() if path.is_file() and path.name.lower().startswith(PREFIXES)]
    return sorted(found)


def main(target: str) -> None:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.check_output(command))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    reached, waiting = set(), [metadata["resolve"]["root"]]
    while waiting:
        node = nodes[waiting.pop()]
        for dependency in node["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in reached:
                reached.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    by_text: dict[str, list[str]] = {}
    for key in sorted(reached, key=lambda key: packages[key]["name"]):
        package = packages[key]
        name = f"{package['name']} {package['version']}"
        files = texts(Path(package["manifest_path"]).parent)
        if not files:
            by_text.setdefault(f"{package['license']}\n(this crate has no file of its licence)\n", []).append(name)
        for path in files:
            by_text.setdefault(path.read_text(errors="replace").strip() + "\n", []).append(name)
    print("wikijs-gate contains the crates below, each under its own licence.")
    print("SQLite, which libsqlite3-sys brings, is in the public domain.")
    for text, names in by_text.items():
        print(f"\n{'=' * 80}\n{', '.join(dict.fromkeys(names))}\n{'-' * 80}\n{text}", end="")


if __name__ == "__main__":
    main(sys.argv[1])

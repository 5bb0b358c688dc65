#!/usr/bin/env python3
"""Makes the wheel that carries the program: wheel.py VERSION STAGE DIST.

STAGE has the program, its licences and the README; the wheel has no Python code.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

TAG = "py3-none-manylinux_2_28_x86_64"
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES.txt"]


def main(version: str, stage: Path, dist: Path) -> None:
    info = f"wikijs_gate-{version}.dist-info"
    metadata = Path(__file__).with_name("METADATA").read_text()
    readme = (stage / "README.md").read_text()
    files = {
        f"wikijs_gate-{version}.data/scripts/wikijs-gate": ((stage / "wikijs-gate").read_bytes(), 0o755),
        f"{info}/METADATA": ((metadata.replace("@VERSION@", version) + "\n" + readme).encode(), 0o644),
        f"{info}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: wikijs-gate\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(), 0o644),
    }
    for name in LICENCES:
        files[f"{info}/licenses/{name}"] = ((stage / name).read_bytes(), 0o644)
    record = f"{info}/RECORD"
    lines = []
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0o644)
    made = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    path = dist / f"wikijs_gate-{version}-{TAG}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, made)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))

#!/usr/bin/env python3
"""Makes the container image without a container engine: image.py VERSION STAGE DIST.

Its configuration is the last stage of the Dockerfile. In the place of the static program which that
builds, it has the packages' program and the C library of this machine. The archive is of the OCI
layout, as `skopeo copy oci-archive:FILE docker://…` and `podman load` take it.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

USER = 65532
MADE = int(os.environ["SOURCE_DATE_EPOCH"])
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"


def settings(dockerfile: str, version: str) -> dict:
    """The configuration that the last stage of a Dockerfile makes."""
    lines = re.sub(r"\\\n\s*", "", dockerfile).split("FROM scratch\n")[1].splitlines()
    found: dict = {"Labels": {"org.opencontainers.image.version": version}, "Env": [], "Volumes": {}}
    for word, rest in (line.split(" ", 1) for line in lines if line and not line.startswith("#")):
        if word == "LABEL":
            found["Labels"].update(pair.split("=", 1) for pair in shlex.split(rest))
        elif word == "ENV":
            found["Env"] += shlex.split(rest)
        elif word == "VOLUME":
            found["Volumes"][rest] = {}
        elif word == "USER":
            found["User"] = rest
        elif word in ("ENTRYPOINT", "CMD"):
            found[word.capitalize()] = json.loads(rest)
        elif word not in ("COPY", "HEALTHCHECK"):
            # The image format has no health check; an engine takes it from the command line.
            sys.exit(f"the Dockerfile has {word}, which is not known here")
    return found


def libraries(program: Path) -> list[str]:
    """The shared libraries of a program, at the places where its loader looks."""
    listed = subprocess.check_output(["ldd", program], text=True)
    return sorted(re.findall(r"(/\S+) \(0x", listed))


def layer(stage: Path, program: Path) -> bytes:
    """The image's files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:

        def add(name: str, data: bytes | None, mode: int, user: int = 0) -> None:
            entry = tarfile.TarInfo(name.lstrip("/"))
            entry.mode, entry.mtime, entry.uid, entry.gid = mode, MADE, user, user
            entry.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            entry.size = len(data or b"")
            tar.addfile(entry, io.BytesIO(data or b""))

        add("/tmp", None, 0o1777)
        add("/var/lib/wikijs-gate", None, 0o700, USER)
        add("/usr/local/bin/wikijs-gate", program.read_bytes(), 0o755)
        add(AUTHORITIES, Path(AUTHORITIES).read_bytes(), 0o644)
        for path in libraries(program):
            add(path, Path(path).read_bytes(), 0o755)
        for name in ("LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES.txt"):
            add(f"/usr/share/doc/wikijs-gate/{name}", (stage / name).read_bytes(), 0o644)
        add("/usr/share/doc/wikijs-gate/glibc-copyright", Path("/usr/share/doc/libc6/copyright").read_bytes(), 0o644)
    return out.getvalue()


def main(version: str, stage: Path, dist: Path) -> None:
    files = layer(stage, stage / "wikijs-gate")
    packed = gzip.compress(files, 9, mtime=0)
    blobs: dict[str, bytes] = {}

    def blob(kind: str, data: bytes) -> dict:
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": settings(Path("Dockerfile").read_text(), version),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(files).hexdigest()}"]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob("config.v1+json", json.dumps(config).encode()),
        "layers": [blob("layer.v1.tar+gzip", packed)],
    }
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [
            blob("manifest.v1+json", json.dumps(manifest).encode())
            | {"annotations": {"org.opencontainers.image.ref.name": version}}
        ],
    }
    contents = {f"blobs/sha256/{digest}": data for digest, data in blobs.items()}
    contents |= {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": json.dumps(index).encode()}
    path = dist / f"wikijs-gate-{version}-image-amd64.tar"
    with tarfile.open(path, "w") as tar:
        for name, data in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), MADE
            tar.addfile(entry, io.BytesIO(data))
    print(path)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))

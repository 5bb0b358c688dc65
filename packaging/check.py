#!/usr/bin/env python3
"""Looks into the packages of dist/: check.py unpack IMAGE ROOT, or check.py entry VERSION DIST."""

import hashlib
import json
import sys
import tarfile
import zipfile
from pathlib import Path


def image(archive: Path) -> tuple[dict, str, bytes]:
    """The configuration of an image, its tag and its only layer."""
    with tarfile.open(archive) as tar:

        def blob(about: dict) -> bytes:
            data = tar.extractfile(f"blobs/{about['digest'].replace(':', '/')}").read()
            assert hashlib.sha256(data).hexdigest() == about["digest"].split(":")[1]
            return data

        (about,) = json.load(tar.extractfile("index.json"))["manifests"]
        manifest = json.loads(blob(about))
        config = json.loads(blob(manifest["config"]))
        (layer,) = manifest["layers"]
        return config["config"], about["annotations"]["org.opencontainers.image.ref.name"], blob(layer)


def unpack(archive: str, root: str) -> None:
    """Unpacks an image and prints its variables, then its user, then its command."""
    config, _, layer = image(Path(archive))
    packed = Path(root).with_suffix(".layer")
    packed.write_bytes(layer)
    with tarfile.open(packed) as tar:
        tar.extractall(root, numeric_owner=True)
    print(*config["Env"], config["User"], *config["Entrypoint"], sep="\n")


def of_package(package: dict, version: str, dist: Path) -> tuple[str, str]:
    """The server's name and the version that a package itself has."""
    match package["registryType"]:
        case "npm":
            with tarfile.open(dist / f"{package['identifier']}-{version}.tgz") as tar:
                made = json.load(tar.extractfile("package/package.json"))
            (other,) = made["optionalDependencies"].items()
            with tarfile.open(dist / f"{other[0]}-{other[1]}.tgz") as tar:
                platform = json.load(tar.extractfile("package/package.json"))
            assert (platform["name"], platform["version"]) == other
            return made["mcpName"], made["version"]
        case "pypi":
            (wheel,) = dist.glob("*.whl")
            with zipfile.ZipFile(wheel) as files:
                (metadata,) = [name for name in files.namelist() if name.endswith("/METADATA")]
                text = files.read(metadata).decode()
            field = dict(line.split(": ", 1) for line in text.split("\n\n")[0].splitlines())
            assert field["Name"] == package["identifier"]
            return text.split("<!-- mcp-name: ")[1].split(" ")[0], field["Version"]
        case "mcpb":
            address = package["identifier"].split("/")
            assert address[-2] == f"v{version}"
            path = dist / address[-1]
            assert hashlib.sha256(path.read_bytes()).hexdigest() == package["fileSha256"]
            with zipfile.ZipFile(path) as files:
                manifest = json.loads(files.read("manifest.json"))
            return f"io.github.wikijs-gate/{manifest['name']}", manifest["version"]
        case "oci":
            (archive,) = dist.glob("*-image-*.tar")
            config, tag, _ = image(archive)
            assert package["identifier"].endswith(f":{tag}")
            labels = config["Labels"]
            assert labels["org.opencontainers.image.version"] == tag
            return labels["io.modelcontextprotocol.server.name"], tag
        case other:
            sys.exit(f"just dist makes no {other}")


def entry(version: str, dist: str) -> None:
    """Checks that each package of the registry's entry was made, under its name and version."""
    told = json.loads((Path(dist) / "server.json").read_text())
    assert told["version"] == version
    for package in told["packages"]:
        assert package.get("version", version) == version
        found = of_package(package, version, Path(dist))
        assert found == (told["name"], version), f"{package['registryType']}: {found}"
        assert [one["name"] for one in package["environmentVariables"]][0] == "WIKI_BASE_URL"


if __name__ == "__main__":
    {"unpack": unpack, "entry": entry}[sys.argv[1]](*sys.argv[2:])

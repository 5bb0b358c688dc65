"""Holds manifests against Kubernetes' schemas, and the compose file against the compose specification's.

`check.py kubernetes FILE…`: each document that Kubernetes itself defines, strictly, at the oldest and the newest version
that is supported; prints the names of the others. `check.py compose SCHEMA FILE`: the schema is JSON.
"""

import json
import sys

import jsonschema
import kubernetes_validate
import yaml

# The action `sleep` of preStop needs the first.
VERSIONS = ["1.30", "1.37"]


def kubernetes(paths):
    """Checks all documents; returns the number of faults."""
    faults = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            documents = [document for document in yaml.safe_load_all(file) if document]
        if not documents:
            print(f"{path}: it is empty")
            faults += 1
        for document in documents:
            if "." in document["apiVersion"].split("/")[0].removesuffix(".k8s.io"):
                continue
            for version in VERSIONS:
                try:
                    kubernetes_validate.validate(document, version, strict=True)
                except kubernetes_validate.ValidationError as fault:
                    place = ".".join(str(part) for part in fault.path)
                    print(f"{path}: {document['kind']} at {version}: {place}: {fault.message}")
                    faults += 1
    return faults


def compose(schema, path):
    """Checks a compose file; returns the number of faults."""
    with open(schema, encoding="utf-8") as file:
        schema = json.load(file)
    with open(path, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    faults = list(jsonschema.Draft7Validator(schema).iter_errors(document))
    for fault in faults:
        print(f"{path}: {'.'.join(str(part) for part in fault.path)}: {fault.message}")
    return len(faults)


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    sys.exit(min({"kubernetes": lambda: kubernetes(rest), "compose": lambda: compose(*rest)}[kind](), 1))

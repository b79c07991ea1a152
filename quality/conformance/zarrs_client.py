"""A client of the program `zarrs-participant`, which `quality/conformance/zarrs` builds; its source describes the requests."""

import base64
import json
import subprocess


class Zarrs:
    """A running program, and a method for each of its operations."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, op, root, path="/", **members):
        request = {"op": op, "root": str(root), "path": path, **members}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def create(self, root, path, metadata):
        self.call("create", root, path, metadata=metadata)

    def write(self, root, path, start, shape, values):
        self.call("write", root, path, start=list(start), shape=list(shape), values=values)

    def read(self, root, path, start, shape):
        return self.call("read", root, path, start=list(start), shape=list(shape))["values"]


def fixed(data):
    """Returns elements of fixed size in the form of requests."""
    return {"bytes": text64(data)}


def varied(elements):
    """Returns elements of variable size in the form of requests."""
    return {"elements": [text64(element) for element in elements]}


def optional(mask, values):
    """Returns optional elements in the form of requests."""
    return {"mask": text64(bytes(mask)), "values": values}


def text64(data):
    return base64.b64encode(bytes(data)).decode("ascii")

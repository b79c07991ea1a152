"""A process of the torture test, for implementations in Python: the common part of their programs.

A process receives its job as JSON in its last argument, and prints the begin and the end of each operation, in the format of
`quality/torture/src/worker.rs`.
"""

import json
import sys
import threading

import numpy as np

#: The bits of a position in an element; the bits above are the number of the operation.
POSITION = 24


def elements(number, start, shape, array):
    """Returns the elements that an operation writes into a box of an array of this shape."""
    index = np.indices(shape, dtype=np.uint64).reshape(len(shape), -1)
    position = np.zeros(index.shape[1], dtype=np.uint64)
    for axis, length in enumerate(array):
        position = position * np.uint64(length) + index[axis] + np.uint64(start[axis])
    return (np.uint64(number << POSITION) | position).reshape(shape)


class Worker:
    """One thread: it opens an array once, and keeps it open."""

    def __init__(self, path):
        self.path = path
        self.arrays = {}

    def array(self, name):
        if name not in self.arrays:
            self.arrays[name] = self.open(f"{self.path}/{name}")
        return self.arrays[name]

    def do(self, operation):
        kind = operation["kind"]
        if kind == "write":
            array, start, shape = self.array(operation["array"]), operation["start"], operation["shape"]
            region = tuple(slice(first, first + length) for first, length in zip(start, shape))
            self.write(array, region, elements(operation["number"], start, shape, array.shape))
        elif kind == "append":
            name, rows = operation["array"], operation["rows"]
            shape = [rows, *self.array(name).shape[1:]]
            self.append(name, elements(operation["number"], [0] * len(shape), shape, shape))
        elif kind == "set_attribute":
            self.set_attribute(f"{self.path}/{operation['node']}", operation["name"], operation["number"])
        else:
            raise ValueError(f"unknown kind of work '{kind}'")


def main(worker):
    """Does the job of this process."""
    job = json.loads(sys.argv[-1])
    lock = threading.Lock()

    def print_line(line):
        with lock:
            print(line, flush=True)

    def work(number, operations):
        hand = worker(job["place"]["url"])
        for index, operation in enumerate(operations):
            print_line(f"begin {number} {index}")
            try:
                hand.do(operation)
            except Exception as error:
                message = f"{type(error).__name__}: {error}".replace("\n", " ")
                return print_line(f"error {number} {index} {message}")
            print_line(f"end {number} {index} done")

    hands = enumerate(hand["operations"] for hand in job["hands"])
    print_line("ready")
    sys.stdin.readline()
    threads = [threading.Thread(target=work, args=hand) for hand in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print_line("finished")

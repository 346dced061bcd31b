# SPDX-License-Identifier: Apache-2.0
"""The same works on PyTorch, driven over a pipe: a line "NAME CALLS" is answered by the seconds that so many calls took.

"hello" is answered by the version; "empty CALLS" times a function that does nothing, which is what the interpreter
itself costs.
"""
import sys
import time

import torch

LARGE = 1 << 24


def works():
    """Name to a function that makes the operands and gives the work."""
    f = torch.nn.functional
    table = {}

    def work(prepare):
        table[prepare.__name__] = prepare
        return prepare

    def small():
        return torch.ones(16), torch.ones(16)

    def large():
        return torch.rand(LARGE), torch.rand(LARGE)

    def chain(a, b):
        return lambda: torch.relu(a * b + 1.0) * 0.5 - b

    @work
    def empty():
        return lambda: None

    @work
    def add16():
        a, b = small()
        return lambda: torch.add(a, b)

    @work
    def add16_out():
        a, b = small()
        c = torch.empty(16)
        return lambda: torch.add(a, b, out=c)

    @work
    def chain16():
        return chain(*small())

    @work
    def view():
        x = torch.ones(8, 8)
        return lambda: x.view(4, 16)

    @work
    def transpose():
        x = torch.ones(8, 8)
        return lambda: x.t()

    @work
    def slice():
        x = torch.ones(8, 8)
        return lambda: x[2:6]

    @work
    def add_large():
        a, b = large()
        return lambda: torch.add(a, b)

    @work
    def relu_large():
        a, _ = large()
        return lambda: torch.relu(a)

    @work
    def chain_large():
        return chain(*large())

    @work
    def add_large_out():
        a, b = large()
        c = torch.empty(LARGE)
        return lambda: torch.add(a, b, out=c)

    for function in (torch.exp, torch.sigmoid, torch.tanh):

        def unary(function=function):
            a, c = torch.rand(LARGE), torch.empty(LARGE)
            return lambda: function(a, out=c)

        table[function.__name__ + "_large_out"] = unary

    @work
    def sum_large():
        a, _ = large()
        return lambda: torch.sum(a)

    @work
    def max_large():
        a, _ = large()
        return lambda: torch.max(a)

    def square():
        return torch.rand(4096, 4096)

    @work
    def softmax_rows():
        x = square()
        return lambda: torch.softmax(x, 1)

    @work
    def softmax_columns():
        x = square()
        return lambda: torch.softmax(x, 0)

    @work
    def layer_norm():
        x = square()
        return lambda: f.layer_norm(x, (4096,))

    @work
    def transpose_copied():
        x = square()
        return lambda: x.t().contiguous()

    @work
    def permute_copied():
        x = torch.rand(64, 256, 1024)
        return lambda: x.permute(2, 0, 1).contiguous()

    @work
    def uniform():
        x = torch.empty(LARGE)
        return lambda: x.uniform_()

    @work
    def normal():
        x = torch.empty(LARGE)
        return lambda: x.normal_()

    for n in (64, 100, 256, 512, 1024, 2048, 4096):

        def product(n=n):
            a, b, c = torch.rand(n, n), torch.rand(n, n), torch.empty(n, n)
            return lambda: torch.matmul(a, b, out=c)

        table["matmul_%d" % n] = product

    @work
    def matmul_batched():
        a, b = torch.rand(1000, 100, 100), torch.rand(1000, 100, 100)
        c = torch.empty(1000, 100, 100)
        return lambda: torch.matmul(a, b, out=c)

    @work
    def sort():
        x = torch.rand(1 << 22)
        return lambda: torch.sort(x, stable=True)

    @work
    def argsort():
        x = torch.rand(1 << 22)
        return lambda: torch.argsort(x, stable=True)

    @work
    def take_rows():
        x = torch.rand(1 << 20, 64)
        indices = torch.randperm(1 << 20)
        return lambda: torch.index_select(x, 0, indices)

    return table


def seconds(work, calls):
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return time.perf_counter() - start


def main():
    table = works()
    name, work = None, None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "hello":
            print("PyTorch", torch.__version__, torch.backends.cpu.get_cpu_capability(), flush=True)
            continue
        if words[0] != name:  # one work's operands at a time
            work = None
            name, work = words[0], table[words[0]]()
        print(repr(seconds(work, int(words[1]))), flush=True)


with torch.inference_mode():
    main()

"""Compares the cost of a server in this process with the cost of a server in a separate process: python bench/in_process.py

Install mayfly-dynamodb[boto3] and mayfly-dynamodb-inprocess, or set MAYFLY_BINARY and MAYFLY_LIBRARY. The output has the
median and the minimum of all rounds for each figure. The two kinds of server alternate, so that other load on
the machine affects both.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Callable

from mayfly import Server

KEY = {"id": {"S": "1"}}
ITEM = {**KEY, "note": {"S": "x" * 100}}


def seconds_of(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def each_of(work: Callable[[], Any], times: int) -> float:
    return seconds_of(lambda: [work() for _ in range(times)]) / times


def one_test(server: Server) -> None:
    with server.world() as world:
        world.clock.freeze("2031-01-01T00:00:00Z")
        world.create_table("carts", key="id", ttl="ttl")
        for number in range(5):
            ttl = {"N": str(world.clock.epoch_seconds(3600 * (number + 1)))}
            world.execute("PutItem", TableName="carts", Item={"id": {"S": str(number)}, "ttl": ttl})
        assert world.clock.advance(hours=2, seconds=1).expired == 2
        assert len(world.execute("Scan", TableName="carts")["Items"]) == 3


def figures(server: Server, calls: int) -> dict[str, float]:
    with server.world() as world:
        world.create_table("carts")
        dynamodb = world.dynamodb
        dynamodb.put_item(TableName="carts", Item=ITEM)
        return {
            "PutItem with boto3": each_of(lambda: dynamodb.put_item(TableName="carts", Item=ITEM), calls),
            "GetItem with boto3": each_of(lambda: dynamodb.get_item(TableName="carts", Key=KEY), calls),
            "PutItem with world.execute": each_of(lambda: world.execute("PutItem", TableName="carts", Item=ITEM), calls),
            "GetItem with world.execute": each_of(lambda: world.execute("GetItem", TableName="carts", Key=KEY), calls),
            "clock.now()": each_of(world.clock.now, calls),
            "30 tests, one world each": seconds_of(lambda: [one_test(server) for _ in range(30)]),
        }


def measured(in_process: bool, calls: int) -> dict[str, float]:
    begin = time.perf_counter()
    with Server(in_process=in_process) as server:
        started = time.perf_counter() - begin
        found = {"start to ready": started, **figures(server, calls)}
        begin = time.perf_counter()
    return {**found, "close": time.perf_counter() - begin}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--calls", type=int, default=500)
    given = options.parse_args()
    measured(True, 1)  # warm-up: imports modules, loads the library and fills the page cache
    measured(False, 1)
    found: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for _ in range(given.rounds):
        for in_process in (False, True):
            found[in_process].append(measured(in_process, given.calls))
    print(f"{'median (min), ms':26}{'separate process':>20}{'in process':>20}")
    for what in found[True][0]:
        row = [[round_[what] * 1000 for round_ in found[in_process]] for in_process in (False, True)]
        print(f"{what:26}" + "".join(f"{statistics.median(each):12.3f} ({min(each):.3f})" for each in row))


if __name__ == "__main__":
    main()

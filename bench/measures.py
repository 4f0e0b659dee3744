"""The measurements. Each function measures one part and returns its entry in bench/results.json.

Servers run on one processor and the generator on another. For every figure, the servers take turns, so that other load
on the machine affects all of them. Each figure is stored together with the figures of its turns.
"""

import concurrent.futures
import contextlib
import dataclasses
import json
import pathlib
import statistics
import subprocess
import tempfile
import time
import uuid

import bench_requests
from bench_requests import PATHS, TABLES
from processes import NotStarted, Process, Refused, free_port

SERVER_CPU, OWN_CPU = 0, 1
WRONG_SHARE_MAX = 0.001  # of a turn's responses; a larger share makes the figure invalid
BATCH = 25
SUITE_TESTS = 50
SUITE_ITEMS = 20
TTL_WAIT_SECONDS = 20
FIXED_ANSWER = "fixed answer"
DOES_NOT_APPLY = (Refused, NotStarted, OSError, ValueError, KeyError)


def spread(turns):
    """Returns the median, minimum and maximum of the turns' figures."""
    return {"median": statistics.median(turns), "least": min(turns), "most": max(turns), "turns": turns}


class Bench:
    def __init__(self, servers, generator, body_file, quick, large, progress):
        self.servers = servers  # by name, including Mayfly and the fixed answer
        self.generator = generator
        self.body_file = body_file
        self.quick = quick
        self.large = large
        self.progress = progress
        self.directory = tempfile.TemporaryDirectory(prefix="mayfly-bench-")

    def path(self, name):
        return pathlib.Path(self.directory.name) / name

    def of_tables(self):
        """Returns the servers that have tables: all except the fixed answer."""
        return [server for name, server in self.servers.items() if name != FIXED_ANSWER]

    def generate(self, *words):
        """Runs the generator and returns the JSON that it prints."""
        command = ("taskset", "-c", str(OWN_CPU), str(self.generator), *map(str, words))
        ended = subprocess.run(command, capture_output=True, check=True, cwd=self.directory.name)
        return json.loads(ended.stdout.decode(errors="replace"))


# --- requests


def load_tables(process, names):
    for name in names:
        for operation, body in TABLES[name]:
            process.call(operation, body)
            wait_until_active(process, body["TableName"])
        items = bench_requests.items_of(name)
        together = 5 if name == "large" else BATCH
        for first in range(0, len(items), together):
            put_items(process, "plain" if name == "on disk" else name, items[first : first + together])


def wait_until_active(process, name):
    deadline = time.monotonic() + 30
    while process.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] != "ACTIVE":
        if time.monotonic() > deadline:
            raise Refused(f"{name} is not ACTIVE after 30 s")
        time.sleep(0.02)


def put_items(process, table, items):
    answer = process.call("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": i}} for i in items]}})
    if answer.get("UnprocessedItems"):
        raise Refused("BatchWriteItem left items unprocessed")


def check_kept(process, path, sent):
    """Reads some of the written items back and fails if a write is missing."""
    if path.operation != "PutItem":
        return
    for body, _ in path.requests[: min(sent, 5)]:
        item = body["Item"]
        key = {name: item[name] for name in ("p", "s")}
        found = process.call("GetItem", {"TableName": path.table, "Key": key, "ConsistentRead": True}).get("Item")
        if found is None or lasting(found) != lasting(item):
            raise Refused(f"a written item reads differently: {json.dumps(found)[:200]}")
        if found["version"] == {"N": "0"}:
            raise Refused("an acknowledged PutItem is missing")


def lasting(item):
    """Returns an item without the attributes that each round of writes changes."""
    return {name: value for name, value in item.items() if name not in ("version", "owner", "seen", "touched")}


def one_turn(bench, process, path, file, connections, first):
    milliseconds = 200 if bench.quick else 500
    before = process.cpu_seconds()
    load = bench.generate("load", process.port, connections, milliseconds, file, first)
    cpu = process.cpu_seconds() - before
    answered = load["requests"] + load["wrong"]
    if load["wrong"] > WRONG_SHARE_MAX * answered:
        raise Refused(f"{load['wrong']} of {answered} responses are wrong; the first: {load['first_wrong']}")
    turn = {
        "requests_per_second": load["requests"] / load["seconds"],
        "p50_us": load["p50_us"],
        "p99_us": load["p99_us"],
        "cpu_us": cpu / load["requests"] * 1e6,
        "wrong": load["wrong"],
    }
    return turn, load["requests"]


def summary(turns):
    rates = [turn["requests_per_second"] for turn in turns]
    middle = {name: statistics.median(turn[name] for turn in turns) for name in turns[0]}
    return {
        **middle,
        "best_requests_per_second": max(rates),
        "spread": (max(rates) - min(rates)) / statistics.median(rates),
        "wrong": sum(turn["wrong"] for turn in turns),
        "turns": turns,
    }


def start_all(bench, stack, on_disk):
    """Starts all servers and loads the tables.

    Returns the started servers, the reason why each other server failed, and, for each table, the reason why each server
    that could not load the table failed to do so.
    """
    processes, refused, lacking = {}, {}, {name: {} for name in TABLES}
    for server in bench.of_tables():
        bench.progress(f"loading {server.name}")
        try:
            directory = bench.path(f"{uuid.uuid4()}") if on_disk else None
            if directory:
                directory.mkdir()
            process = stack.enter_context(Process(server, {SERVER_CPU}, directory))
            for name in ("plain",) if on_disk else [name for name in TABLES if name != "on disk"]:
                try:
                    load_tables(process, (name,))
                except Refused as error:  # for example, dynalite has no TTL
                    lacking[name][server.name] = refusal(error)
            processes[server.name] = process
        except DOES_NOT_APPLY as error:
            refused[server.name] = refusal(error)
    return processes, refused, lacking


def refusal(error):
    text = str(error) or type(error).__name__
    return text if text.startswith("refused") else f"refused: {text}"


def requests(bench):
    """Measures each path with each number of connections on every server."""
    rows = []
    paths = [(name, path) for name, path in PATHS.items() if not bench.quick or path.item == "1 KB"]
    for on_disk in (False, True):
        with contextlib.ExitStack() as stack:
            processes, refused, lacking = start_all(bench, stack, on_disk)
            for name, path in paths:
                if path.on_disk == on_disk:
                    rows += requests_of_path(bench, name, path, processes, refused | lacking[path.table])
    return {"rows": rows}


def requests_of_path(bench, name, path, processes, refused):
    with contextlib.ExitStack() as stack:
        taking_part = dict(processes)
        if FIXED_ANSWER in bench.servers and "Mayfly" in processes:
            # The fixed answer is Mayfly's response.
            body, _ = path.requests[0]
            answer = processes["Mayfly"].call(path.operation, body)
            bench.body_file.write_text(json.dumps(answer, separators=(",", ":")))
            server = bench.servers[FIXED_ANSWER]
            taking_part[FIXED_ANSWER] = stack.enter_context(Process(server, {SERVER_CPU}))
        files = {}
        for server, process in taking_part.items():
            files[server] = bench.path(f"{server}.requests")
            bench_requests.write_requests(files[server], process.port, path, checked=server != FIXED_ANSWER)
        rows = []
        sent = dict.fromkeys(taking_part, 0)
        for connections in (16,) if bench.quick else (1, 16, 64):
            turns = {server: [] for server in taking_part}
            for number in range(2 if bench.quick else 5):
                for server, process in taking_part.items():
                    if server in refused:
                        continue
                    bench.progress(f"{name}, {connections} connections, turn {number + 1}: {server}")
                    try:
                        turn, count = one_turn(
                            bench, process, path, files[server], connections, sent[server] % len(path.requests)
                        )
                        sent[server] += count
                        turns[server].append(turn)
                        if server != FIXED_ANSWER:
                            check_kept(process, path, sent[server])
                    except (*DOES_NOT_APPLY, subprocess.CalledProcessError) as error:
                        refused[server] = refusal(error)
            for server in bench.servers:
                row = {"path": name, "item": path.item, "connections": connections, "server": server}
                if server in refused:
                    row["refused"] = refused[server]
                elif turns.get(server):
                    row |= summary(turns[server])
                else:
                    continue
                rows.append(row)
        return rows


# --- more than one thread


def threads(bench):
    """Measures Mayfly's CPU time per request with one and with two threads that serve connections. The server runs on both
    processors."""
    rows = []
    with contextlib.ExitStack() as stack:
        processes = {}
        for count in (1, 2):
            server = dataclasses.replace(
                bench.servers["Mayfly"],
                command=lambda port, directory, count=count: [
                    *bench.servers["Mayfly"].command(port, directory), "--threads", str(count)],
            )  # fmt: skip
            processes[count] = stack.enter_context(Process(server, {SERVER_CPU, OWN_CPU}))
            load_tables(processes[count], ["plain"])
        for name in ("GetItem of 1 KB", "PutItem of 1 KB"):
            turns = {count: [] for count in processes}
            file = bench.path("threads.requests")
            for number in range(2 if bench.quick else 9):
                for count, process in processes.items():
                    bench.progress(f"{name}, {count} threads, turn {number + 1}")
                    bench_requests.write_requests(file, process.port, PATHS[name], checked=True)
                    turn, _ = one_turn(bench, process, PATHS[name], file, connections=16, first=0)
                    turns[count].append(turn["cpu_us"])
            rows += [{"path": name, "threads": count, "cpu_us": spread(turns[count])} for count in processes]
    return {"rows": rows}


# --- start and memory


def start(bench):
    """Measures the time from exec to the first answered ListTables, in memory and on disk."""
    rows = []
    for on_disk in (False, True):
        found = {}
        for number in range(3 if bench.quick else 11):
            for server in bench.servers.values():
                port = free_port()
                directory = bench.path(f"{uuid.uuid4()}") if on_disk else None
                if directory:
                    directory.mkdir()
                command = server.command(port, directory)
                slow = statistics.median(found.get(server.name, [0])) > 1000
                if command is None or (slow and number >= 3):
                    continue
                bench.progress(f"start {number + 1}: {server.name}{' on disk' if on_disk else ''}")
                checks = [] if server.name == FIXED_ANSWER else [("c", 1, '"TableNames"')]
                file = bench.path("start.requests")
                file.write_bytes(bench_requests.request(port, "ListTables", {}, checks))
                variables = [f"{name}={value}" for name, value in server.environment(port).items()]
                with_variables = ["env", *variables] if variables else []
                ms = bench.generate(
                    *("start", port, SERVER_CPU, OWN_CPU, server.start_seconds_max, file), *with_variables, *command
                )["ms"]
                if ms is not None:
                    found.setdefault(server.name, []).append(ms)
        rows += [
            {"server": server, "on_disk": on_disk, "ms": spread(found[server])} if server in found
            else {"server": server, "on_disk": on_disk, "refused": "refused: " + (
                "cannot store tables in a directory" if on_disk else "no response")}
            for server in bench.servers
        ]  # fmt: skip
    return {"rows": rows}


def memory(bench):
    """Measures each server's memory when the server is idle and after items of 200 B have been written."""
    rows = []
    steps = [1_000] if bench.quick else [10_000, 1_000_000] if bench.large else [10_000]
    for server in bench.servers.values():
        row = {"server": server.name}
        rows.append(row)
        try:
            with Process(server, {SERVER_CPU}) as process:
                time.sleep(1)
                row["0"] = process.memory_mb()
                if server.name == FIXED_ANSWER:
                    continue
                process.call("CreateTable", bench_requests.table("small"))
                wait_until_active(process, "small")
                held = 0
                for step in steps:
                    began = time.monotonic()
                    while held < step:
                        if held % 1000 == 0:
                            bench.progress(f"memory of {server.name}: {held:,} items")
                        numbers = range(held, held + BATCH)
                        put_items(process, "small", [bench_requests.small_item(number) for number in numbers])
                        held += BATCH
                        if time.monotonic() - began > 1800:
                            raise Refused(f"writing {step:,} items takes more than half an hour; {held:,} were written")
                    time.sleep(2)
                    row[str(step)] = process.memory_mb()
        except DOES_NOT_APPLY as error:
            row["refused"] = refusal(error)
    return {"rows": rows}


# --- a suite of tests


def one_test(process, number):
    """Does what a typical test does: creates a table, writes and reads items, queries, and deletes the table."""
    name = f"test-{number}-{uuid.uuid4().hex[:8]}"
    process.call("CreateTable", bench_requests.table(name))
    wait_until_active(process, name)
    for i in range(SUITE_ITEMS):
        process.call("PutItem", {"TableName": name, "Item": bench_requests.small_item(i)})
    for i in range(SUITE_ITEMS):
        found = process.call("GetItem", {"TableName": name, "Key": bench_requests.key(i), "ConsistentRead": True})
        if found["Item"] != bench_requests.small_item(i):
            raise Refused(f"GetItem returns {json.dumps(found)[:200]}")
    found = process.call(
        "Query",
        {
            "TableName": name,
            "KeyConditionExpression": "p = :p",
            "ExpressionAttributeValues": {":p": bench_requests.key(0)["p"]},
        },
    )
    if found["Count"] != SUITE_ITEMS:
        raise Refused(f"Query returns {found['Count']} items, not {SUITE_ITEMS}")
    process.call("DeleteTable", {"TableName": name})


def suite(bench):
    """Measures a suite of tests, each with its own table. The tests run one at a time, and then four at a time."""
    rows = []
    with contextlib.ExitStack() as stack:
        processes, refused = {}, {}
        for server in bench.of_tables():
            try:
                processes[server.name] = stack.enter_context(Process(server, {SERVER_CPU}))
            except NotStarted as error:
                refused[server.name] = refusal(error)
        for at_a_time in (1, 4):
            found = {server: [] for server in processes}
            for turn in range(1 if bench.quick else 5):
                for server, process in processes.items():
                    if server in refused:
                        continue
                    bench.progress(f"suite, {at_a_time} at a time, turn {turn + 1}: {server}")
                    try:
                        cpu, began = process.cpu_seconds(), time.monotonic()
                        with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
                            list(pool.map(lambda number, p=process: one_test(p, number), range(SUITE_TESTS)))
                        seconds = time.monotonic() - began
                        found[server].append((seconds, process.cpu_seconds() - cpu))
                    except DOES_NOT_APPLY as error:
                        refused[server] = refusal(error)
            for server in (*processes, *(set(refused) - set(processes))):
                row = {"server": server, "at_a_time": at_a_time}
                if server in refused:
                    row["refused"] = refused[server]
                else:
                    row["seconds"] = spread([seconds for seconds, _ in found[server]])
                    row["cpu_seconds"] = spread([cpu for _, cpu in found[server]])
                rows.append(row)
    return {"rows": rows, "tests": SUITE_TESTS}


# --- expiry


def expiry(bench):
    """Measures the time from an item's TTL to its REMOVE record in the stream, for items that are due at the same time."""
    count = 100
    rows = []
    for server in bench.of_tables():
        bench.progress(f"expiry: {server.name}")
        row = {"server": server.name, "items": count}
        rows.append(row)
        try:
            with Process(server, {SERVER_CPU}) as process:
                for operation, body in TABLES["indexed"]:
                    process.call(operation, body)
                    wait_until_active(process, "indexed")
                row |= expiry_of(process, count)
        except DOES_NOT_APPLY as error:
            row["refused"] = refusal(error)
    return {"rows": rows, "waited_seconds": TTL_WAIT_SECONDS}


def expiry_of(process, count):
    due = int(time.time()) + 3
    arn = process.call("DescribeTable", {"TableName": "indexed"})["Table"]["LatestStreamArn"]
    for first in range(0, count, BATCH):
        items = [bench_requests.indexed_item(i) | {"ttl": {"N": str(due)}} for i in range(first, first + BATCH)]
        put_items(process, "indexed", items)
    described = process.call("DescribeStream", {"StreamArn": arn}, "dynamodbstreams")["StreamDescription"]
    iterators = [
        process.call(
            "GetShardIterator",
            {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"},
            "dynamodbstreams",
        )["ShardIterator"]
        for shard in described["Shards"]
    ]
    lags = []
    while len(lags) < count and time.time() < due + TTL_WAIT_SECONDS:
        for at, iterator in enumerate(iterators):
            answer = process.call("GetRecords", {"ShardIterator": iterator}, "dynamodbstreams")
            lags += [
                (time.time() - due) * 1000 for record in answer["Records"] if record["eventName"] == "REMOVE"
            ]
            iterators[at] = answer.get("NextShardIterator", iterator)
        time.sleep(0.0005 if time.time() > due - 0.1 else 0.05)
    found = process.call("Scan", {"TableName": "indexed", "Select": "COUNT"})["Count"]
    if not lags:
        return {"removed": 0, "refused": f"no item was deleted within {TTL_WAIT_SECONDS} s ({found} of {count} left)"}
    lags.sort()
    return {
        "removed": len(lags),
        "left": found,
        "lag_ms": {
            "p50": lags[len(lags) // 2],
            "p99": lags[int(0.99 * (len(lags) - 1))],
            "most": lags[-1],
            "first": lags[0],
        },
    }


PARTS = {"requests": requests, "threads": threads, "start": start, "memory": memory, "suite": suite, "expiry": expiry}

"""Runs a measured server as a process on given processors, and measures its CPU time and memory.

    with Process(server, {0}) as process:
        process.call("ListTables", {})
"""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

import bench_requests

TICKS = os.sysconf("SC_CLK_TCK")
END_SECONDS_MAX = 10


class Refused(Exception):
    """The server rejected a request, or a measurement failed."""


class NotStarted(Exception):
    pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def tree(pid):
    """Returns the ids of the process and all its descendants."""
    pids = [pid]
    for parent in pids:
        with contextlib.suppress(OSError):
            for task in pathlib.Path(f"/proc/{parent}/task").iterdir():
                pids += map(int, (task / "children").read_text().split())
    return pids


class Process:
    def __init__(self, server, cpus, directory=None):
        self.server = server
        self.port = free_port()
        command = server.command(self.port, directory)
        if command is None:
            raise NotStarted("refused: cannot store tables in a directory")
        # Some servers leave files in their working directory.
        self.place = tempfile.TemporaryDirectory(prefix="mayfly-bench-peer-")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.place.name,
            env={**os.environ, **server.environment(self.port)},
            start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )
        self.wait_for_answer()

    def wait_for_answer(self):
        deadline = time.monotonic() + self.server.start_seconds_max
        while True:
            if self.process.poll() is not None:
                self.stop()
                raise NotStarted(f"exited with status {self.process.returncode} before it answered")
            with contextlib.suppress(OSError, http.client.HTTPException, Refused):
                self.call("ListTables", {})
                return
            if time.monotonic() > deadline:
                self.stop()
                raise NotStarted(f"did not answer within {self.server.start_seconds_max} s")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        # The server has its own session, so its process group contains only it and its descendants.
        for way in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, way)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(END_SECONDS_MAX)
                break
        self.place.cleanup()

    def call(self, operation, body, service="dynamodb", account="test"):
        """Returns the response as JSON. Raises Refused if its status is not 200."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            payload = json.dumps(body).encode()
            headers = bench_requests.signed_headers(self.port, operation, payload, service, account)
            connection.request("POST", "/", payload, headers)
            answer = connection.getresponse()
            received = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise Refused(f"{operation}: status {answer.status}: {received[:300].decode(errors='replace')}")
        return json.loads(received)

    def cpu_seconds(self):
        """Returns the user and system time of the process and its running descendants in seconds.

        The kernel counts these times in clock ticks.
        """
        ticks = 0
        for pid in tree(self.process.pid):
            with contextlib.suppress(OSError):
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS

    def memory_mb(self):
        """Returns resident memory and its private part. File pages are not private: other processes can share them."""
        resident = private = 0
        for pid in tree(self.process.pid):
            with contextlib.suppress(OSError):
                rollup = {}
                for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
                    name, _, rest = line.partition(":")
                    rollup[name] = int(rest.split()[0])
                resident += rollup["Rss"]
                private += rollup["Anonymous"]
        return {"resident": resident / 1024, "private": private / 1024}

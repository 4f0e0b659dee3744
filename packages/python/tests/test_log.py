from __future__ import annotations

import os
import threading

from mayfly._log import LINES_MAX, ServerLog
from mayfly._pipe import LogPipe


def followed() -> tuple[ServerLog, LogPipe, threading.Thread]:
    log, pipe = ServerLog(), LogPipe()
    thread = threading.Thread(target=log.follow, args=(pipe,))
    thread.start()
    write(pipe, b"begun\n")
    while not log.since():  # wait until the thread reads the pipe
        pass
    return log, pipe, thread


def write(pipe: LogPipe, content: bytes) -> None:
    assert os.write(pipe.write_end(), content) == len(content)


def test_a_reader_of_a_log_sees_every_line_that_was_written_before_the_read():
    log, pipe, thread = followed()
    for n in range(1000):
        position = log.position()
        write(pipe, f"line {n}\n".encode())
        assert log.since(position) == f"line {n}"
    pipe.close_write_end()
    thread.join()


def test_a_log_line_can_arrive_in_pieces_and_end_without_a_newline():
    log, pipe, thread = followed()
    write(pipe, "ä".encode()[:1])
    assert log.since() == "begun"
    write(pipe, "ä".encode()[1:] + b"b\n\xffc")
    assert log.since() == "begun\näb"
    pipe.close_write_end()
    thread.join()
    assert log.since() == "begun\näb\n\ufffdc"
    assert log.last() == log.since()


def test_a_log_keeps_only_its_last_lines():
    log, pipe, thread = followed()
    write(pipe, b"".join(b"%d\n" % n for n in range(LINES_MAX + 1)))
    pipe.close_write_end()
    thread.join()
    assert log.since().splitlines() == [str(n) for n in range(1, LINES_MAX + 1)]


def test_the_lines_of_a_log_can_end_with_crlf():
    log, pipe, thread = followed()
    write(pipe, b"one\r")
    assert log.since() == "begun"
    write(pipe, b"\ntwo\r\n\r\n")
    assert log.since() == "begun\none\ntwo\n"
    pipe.close_write_end()
    thread.join()


def test_a_log_of_several_megabytes_never_blocks_its_writer():
    log, pipe, thread = followed()
    for n in range(100):
        write(pipe, b"x" * 50_000 + b" %d\n" % n)
    pipe.close_write_end()
    thread.join()
    assert log.last().endswith("x 99")
    assert log.position() == 101

from __future__ import annotations

import os
import threading

from mayfly._log import LINES_MAX, ServerLog


def followed() -> tuple[ServerLog, int, threading.Thread]:
    log, (read_end, write_end) = ServerLog(), os.pipe()
    thread = threading.Thread(target=log.follow, args=(os.fdopen(read_end, "rb", buffering=0),))
    thread.start()
    os.write(write_end, b"begun\n")
    while not log.since():  # wait until the thread has opened the pipe
        pass
    return log, write_end, thread


def test_a_reader_of_a_log_sees_every_line_that_was_written_before_the_read():
    log, write_end, thread = followed()
    for n in range(1000):
        position = log.position()
        os.write(write_end, f"line {n}\n".encode())
        assert log.since(position) == f"line {n}"
    os.close(write_end)
    thread.join()


def test_a_log_line_can_arrive_in_pieces_and_end_without_a_newline():
    log, write_end, thread = followed()
    os.write(write_end, "ä".encode()[:1])
    assert log.since() == "begun"
    os.write(write_end, "ä".encode()[1:] + b"b\n\xffc")
    assert log.since() == "begun\näb"
    os.close(write_end)
    thread.join()
    assert log.since() == "begun\näb\n\ufffdc"
    assert log.last() == log.since()


def test_a_log_keeps_only_its_last_lines():
    log, write_end, thread = followed()
    os.write(write_end, b"".join(b"%d\n" % n for n in range(LINES_MAX + 1)))
    os.close(write_end)
    thread.join()
    assert log.since().splitlines() == [str(n) for n in range(1, LINES_MAX + 1)]

"""Locks for processes that fork.

A forked process has only the thread that called fork, but it has copies of the locks that other threads held at that moment.
No thread would ever release those copies.
"""

from __future__ import annotations

import os
import threading
import weakref


class Lock:
    """Like threading.Lock, but not held in a forked process. What a lock protects must be usable there even if a thread of
    the parent process was changing it. A thread must not fork while it holds one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        self._lock = threading.Lock()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _locks:
        lock.renew()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew_all)

"""Failures of a world's functions. Each failure is recorded. Unless the function may fail, the failure is also printed when
it happens, and raised once as a HandlerError."""

from __future__ import annotations

import collections
import concurrent.futures
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Optional

from ._calls.clock import Advanced, FunctionError, GivenUp, Unfinished
from ._fork import Lock
from .errors import HandlerError, hides_frames

__tracebackhide__ = hides_frames

#: How many failures a world keeps. This is limited, because a failing handler is called again and again.
FAILURES_MAX = 100
#: How much of an error's message is repeated in a HandlerError's message, in characters.
MESSAGE_MAX = 300

_OURS = (str(Path(__file__).parent), str(Path(concurrent.futures.__file__).parent))


@dataclass(frozen=True)
class HandlerFailure:
    """An exception that a handler in the test's process raised."""

    function: str  #: the name under which the handler was registered
    event: Any  #: the event that the handler was called with
    error: BaseException

    def __str__(self) -> str:
        return f"{self.function}: {_shown(self.error)}"


class HandlerFailures:
    """The failures of one world. Thread-safe, because each invocation of a handler runs in a separate thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._may_fail: set[str] = set()
        self._kept: collections.deque[HandlerFailure] = collections.deque(maxlen=FAILURES_MAX)
        self._unraised: list[HandlerFailure] = []
        self._raised: set[tuple[str, ...]] = set()  # see `_records`
        self._printed: dict[str, str] = {}  # for each function, the text that was printed last
        self._closed = False

    def declare(self, function: str, may_fail: bool) -> None:
        with self._lock:
            if may_fail:
                self._may_fail.add(function)
            else:
                self._may_fail.discard(function)

    def add(self, function: str, event: Any, error: BaseException) -> None:
        """Records a failure, and prints it to stderr unless the function may fail."""
        error.__traceback__ = _from_the_handler_on(error.__traceback__)
        failure = HandlerFailure(function, event, error)
        with self._lock:
            if self._closed:
                return
            self._kept.append(failure)
            if function in self._may_fail:
                return
            records = _records(failure)
            retried = bool(records) and records <= self._raised
            if not retried and len(self._unraised) < FAILURES_MAX:
                self._unraised.append(failure)
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            again = self._printed.get(function) == text
            self._printed[function] = text
        what = f" {_shown(error)} (as before)\n" if again else f"\n{text}"
        print(f"mayfly: function {function} failed:{what}", end="", file=sys.stderr, flush=True)

    def kept(self) -> list[HandlerFailure]:
        """The latest failures, oldest first; at most FAILURES_MAX."""
        with self._lock:
            return list(self._kept)

    def check(self, advanced: Advanced) -> None:
        """Raises a HandlerError if the result of a settle reports failures of functions that must not fail, or if the test's
        own handlers have raised exceptions since the last check."""
        with self._lock:
            given_up = [each for each in advanced.given_up if each["function"] not in self._may_fail]
            unfinished = [each for each in advanced.unfinished if each["function"] not in self._may_fail]
            error = _error(self._take(), given_up, unfinished, advanced)
        if error is not None:
            raise error

    def take(self) -> Optional[HandlerError]:
        """The error for exceptions that the test's own handlers have raised since the last check, or None."""
        with self._lock:
            return _error(self._take(), [], [], None)

    def close(self) -> Optional[HandlerError]:
        """Like `take`. Later failures are ignored, because the world is gone."""
        with self._lock:
            self._closed = True
            return _error(self._take(), [], [], None)

    def _take(self) -> list[HandlerFailure]:
        taken, self._unraised = self._unraised, []
        for failure in taken:
            self._raised |= _records(failure)
        return taken


def _records(failure: HandlerFailure) -> set[tuple[str, ...]]:
    """The records of the batch that failed, as (function, error type, record id). If all of them are in `_raised`, the
    failure has already been raised."""
    records = failure.event.get("Records") if isinstance(failure.event, dict) else None
    if not isinstance(records, list):
        return set()
    kind = type(failure.error).__name__
    return {(failure.function, kind, str(each.get("eventID"))) for each in records if isinstance(each, dict)}


def _error(
    failures: list[HandlerFailure], given_up: list[GivenUp], unfinished: list[Unfinished], advanced: Optional[Advanced]
) -> Optional[HandlerError]:
    retrying = [each for each in unfinished if "retrying" in each]
    unregistered = [each for each in unfinished if not each.get("registered", True)]
    sentences = [*_given_up_sentences(given_up), *map(_retrying_sentence, retrying)]
    if given_up and advanced is not None and advanced.given_up_left_out:
        sentences.append(f"{_count(advanced.given_up_left_out, 'more batch', 'more batches')} not listed.")
    told = {each["function"] for each in given_up} | {each["function"] for each in retrying}
    sentences += _raised_sentences([each for each in failures if each.function not in told])
    functions = told | {each.function for each in failures}
    if functions:
        which = "the function" if len(functions) == 1 else "these functions"
        sentences.append(f"If the test expects this, register {which} with may_fail=True.")
    sentences += map(_unregistered_sentence, unregistered)
    return HandlerError(" ".join(sentences), failures, advanced) if sentences else None


def _given_up_sentences(given_up: list[GivenUp]) -> list[str]:
    """One sentence for each group of batches with the same function, table and condition."""
    batches: dict[tuple[str, str, str], list[GivenUp]] = {}
    for each in given_up:
        batches.setdefault((each["function"], each["table"], each["condition"]), []).append(each)
    sentences = []
    for (function, table, condition), group in batches.items():
        records = _count(sum(len(each["records"]) + each["left_out"] for each in group), "record")
        attempts = max(each["attempts"] for each in group)
        if attempts == 0:
            sentences.append(f"Function {function} did not get {records} of table {table} ({condition}).")
            continue
        sentences.append(
            f"Function {function} failed on table {table}: Mayfly gave up {records} after {_count(attempts, 'attempt')} "
            f"({condition}).{_last_error(group[-1].get('error'))}"
        )
    return sentences


def _retrying_sentence(mapping: Unfinished) -> str:
    retrying = mapping["retrying"]
    return (
        f"Function {mapping['function']} keeps failing on table {mapping['table']}: "
        f"{_count(retrying['attempts'], 'attempt')} for {_count(retrying['records'], 'record')} so far."
        f"{_last_error(retrying.get('error'))}"
    )


def _unregistered_sentence(mapping: Unfinished) -> str:
    name, table = mapping["function"], mapping["table"]
    return (
        f"Function {name} is not registered, but a trigger of table {table} has records for it. "
        "Register the function, or correct the trigger's function name."
    )


def _raised_sentences(failures: list[HandlerFailure]) -> list[str]:
    by_function: dict[str, list[HandlerFailure]] = {}
    for each in failures:
        by_function.setdefault(each.function, []).append(each)
    return [
        f"Function {name} failed {_count(len(calls), 'time')}. Its last error was {_shown(calls[-1].error)}."
        for name, calls in by_function.items()
    ]


def _last_error(error: Optional[FunctionError]) -> str:
    if error is None:
        return ""
    said = _one_line(": ".join(each for each in (error.get("type"), error.get("message")) if each))
    if not said and "error" in error:
        said = f"{error['error']} (HTTP status {error['status']})"
    return f" Its last error was {said}." if said else " It processed only part of the batch."


def _shown(error: BaseException) -> str:
    message = _one_line(str(error))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _one_line(text: str) -> str:
    """The first line of the text, shortened. Other lines are omitted, because pytest's assertion messages have many."""
    line = "".join(each for each in text.strip().partition("\n")[0] if each.isprintable()).strip().rstrip(".")
    return line if len(line) <= MESSAGE_MAX else line[:MESSAGE_MAX] + "…"


def _count(number: int, one: str, more: Optional[str] = None) -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def _from_the_handler_on(trace: Optional[TracebackType]) -> Optional[TracebackType]:
    """The traceback without the leading frames of this package, which called the handler."""
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename.startswith(_OURS):
        inner = inner.tb_next
    return inner or trace

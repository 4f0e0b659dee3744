from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

from ._call import Call, control, nothing


@dataclass(frozen=True)
class Fault:
    """A rule by which operations fail: Fault("throttle", operation="PutItem", count=2). What is None narrows nothing down.

    `fault`: throttle, internal_server_error, latency, unprocessed, transaction_conflict, stale_reads,
    replicated_write_conflict."""

    fault: str
    operation: Optional[str] = None  #: PutItem, …
    table: Optional[str] = None
    exception: Optional[str] = None  #: of throttle: which one
    milliseconds: Optional[int] = None  #: of latency; of stale_reads by the world's clock
    writes: Optional[int] = None  #: of stale_reads: how many commits a read may be behind
    items: Optional[int] = None  #: of unprocessed: how many are left
    count: Optional[int] = None  #: how often it strikes; None: always
    probability: Optional[float] = None  #: that it strikes; None: 1
    seed: Optional[int] = None  #: what is left to chance is drawn from it


@dataclass(frozen=True)
class FaultCount:
    """A rule, and what became of it."""

    rule: Fault
    asked: int  #: how many operations it fitted
    struck: int  #: how many of them failed by it


def put(rules: Sequence[Fault]) -> Call[None]:
    sent = [{name: value for name, value in asdict(rule).items() if value is not None} for rule in rules]
    return control("PUT", "/faults", {"rules": sent}, nothing)


def clear() -> Call[None]:
    return control("DELETE", "/faults", {}, nothing)


def counts() -> Call[list[FaultCount]]:
    return control("GET", "/faults", None, lambda answer: [_count(rule) for rule in answer["rules"]])


def _count(rule: dict[str, Any]) -> FaultCount:
    known = {name: rule[name] for name in Fault.__dataclass_fields__ if name in rule}
    return FaultCount(Fault(**known), rule["asked"], rule["struck"])

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

from .._literals import FaultKind, ThrottleException
from ._call import Call, control, nothing


@dataclass(frozen=True)
class Fault:
    """A rule that makes operations fail: Fault("throttle", operation="PutItem", count=2). `operation` and `table` restrict
    the rule to one operation or table; None matches all operations or all tables."""

    fault: FaultKind
    operation: Optional[str] = None  #: PutItem, …
    table: Optional[str] = None
    exception: Optional[ThrottleException] = None  #: for throttle; None: the exception that AWS would return
    #: for internal_server_error and connection_closed: whether the operation takes effect although the client gets an error;
    #: None: False. For latency: whether a write takes effect before the delay rather than after it; None: True
    applied: Optional[bool] = None
    milliseconds: Optional[int] = None  #: for latency: the delay in real time; for stale_reads: the lag on the world's clock
    writes: Optional[int] = None  #: for stale_reads: how many commits a read can lag behind
    items: Optional[int] = None  #: for unprocessed: how many items of a batch stay unprocessed; None: all
    count: Optional[int] = None  #: how many matching operations the rule is applied to; None: all
    probability: Optional[float] = None  #: the probability that the rule is applied to a matching operation; None: 1
    seed: Optional[int] = None  #: the seed of random choices


@dataclass(frozen=True)
class FaultCount:
    """A rule and its counters."""

    rule: Fault
    asked: int  #: operations that the rule matched
    struck: int  #: operations that the rule was applied to


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

"""The fixed names in arguments and results, as literal types, so that a type checker reports misspelled ones."""

from __future__ import annotations

from typing import Literal

#: What a fault rule does to the operations that it matches.
FaultKind = Literal[
    "throttle",
    "internal_server_error",
    "latency",
    "connection_closed",
    "unprocessed",
    "transaction_conflict",
    "stale_reads",
    "replicated_write_conflict",
]
#: The exception that a throttled operation returns.
ThrottleException = Literal["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
#: A stream record's event name.
EventName = Literal["INSERT", "MODIFY", "REMOVE"]
#: Who made a change: a client ("user"), or TTL ("service").
ChangedBy = Literal["user", "service"]
ClockMode = Literal["real", "frozen", "offset", "rate"]
TtlMode = Literal["exact", "aws", "manual"]
TtlStatusName = Literal["ENABLED", "DISABLED"]
ExplainReason = Literal[
    "due",
    "not_due",
    "delayed",
    "expired",
    "born_expired",
    "no_item",
    "no_attribute",
    "not_a_number",
    "milliseconds",
    "too_old",
    "ttl_disabled",
]
#: A key attribute's type: string, number or binary.
KeyType = Literal["S", "N", "B"]
#: What a table's stream records contain.
StreamView = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]

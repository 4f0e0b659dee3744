from __future__ import annotations

import datetime
from datetime import timedelta, timezone

import pytest

from mayfly import ControlError
from mayfly._instant import instant_of, instant_text

Y2031 = datetime.datetime(2031, 1, 1, tzinfo=timezone.utc)


def test_a_new_clock_shows_the_hosts_time(mayfly):
    reading = mayfly.clock.read()
    assert reading.mode == "real"
    assert abs(reading.now - datetime.datetime.now(timezone.utc)) < timedelta(seconds=5)


@pytest.mark.parametrize(
    "at", [Y2031, "2031-01-01T00:00:00Z", Y2031.timestamp(), Y2031.astimezone(timezone(timedelta(hours=5)))]
)
def test_a_clock_can_be_frozen_at_a_given_time(mayfly, at):
    assert mayfly.clock.freeze(at) == Y2031
    assert mayfly.clock.now() == mayfly.clock.now() == Y2031
    assert mayfly.clock.epoch_seconds(60) == mayfly.clock.epoch_seconds(timedelta(minutes=1)) == 1924992060


def test_a_clock_is_frozen_at_its_current_time_by_default(mayfly):
    assert mayfly.clock.freeze() == mayfly.clock.now()
    assert mayfly.clock.read().mode == "frozen"


def test_a_datetime_without_a_time_zone_is_rejected(mayfly):
    with pytest.raises(ValueError, match=r"\) has no time zone: add tzinfo=timezone.utc\.$"):
        mayfly.clock.freeze(datetime.datetime(2031, 1, 1))


def test_the_methods_set_rate_run_and_real_change_the_clocks_mode(mayfly):
    mayfly.clock.set(Y2031)
    assert mayfly.clock.read().mode == "offset"
    mayfly.clock.rate(60)
    assert mayfly.clock.read().mode == "rate"
    mayfly.clock.freeze()
    mayfly.clock.run()
    assert mayfly.clock.read().mode == "offset"
    mayfly.clock.real()
    assert mayfly.clock.read().mode == "real"


def test_a_clock_cannot_move_back_while_its_world_has_tables(mayfly):
    mayfly.clock.freeze(Y2031)
    mayfly.create_table("carts")
    with pytest.raises(ControlError) as error:
        mayfly.clock.freeze("2030-01-01T00:00:00Z")
    assert (error.value.type, error.value.status) == ("Conflict", 409)


@pytest.mark.parametrize(
    ("by", "parts"), [(3600, {}), (timedelta(hours=1), {}), (None, {"hours": 1}), (1800, {"minutes": 29, "seconds": 60})]
)
def test_an_advance_adds_up_its_arguments(mayfly, by, parts):
    mayfly.clock.freeze(Y2031)
    assert mayfly.clock.advance(by, **parts).now == Y2031 + timedelta(hours=1)


@pytest.mark.parametrize("method", ["advance", "epoch_seconds"])
def test_text_is_rejected_as_a_time_span(mayfly, method):
    with pytest.raises(TypeError) as error:
        getattr(mayfly.clock, method)("48h")
    assert str(error.value) == (
        "A time span must be a timedelta or a number of seconds, got '48h'. Pass timedelta(hours=48), for example."
    )


def test_an_advance_reports_expired_items_and_the_next_expiry(mayfly):
    mayfly.clock.freeze(Y2031)
    for table in ("carts", "sessions"):
        mayfly.create_table(table, ttl="ttl")
        for hours in (1, 2):
            item = {"id": {"S": str(hours)}, "ttl": {"N": str(mayfly.clock.epoch_seconds(hours * 3600))}}
            mayfly.dynamodb.put_item(TableName=table, Item=item)
    advanced = mayfly.clock.advance_to_next_expiry()
    assert (advanced.expired, advanced.tables) == (2, {"carts": 1, "sessions": 1})
    assert advanced.next_expiry == Y2031 + timedelta(hours=2, milliseconds=1)
    assert mayfly.clock.advance_to(Y2031 + timedelta(hours=3)).expired == 2
    nothing = mayfly.clock.advance_to_next_expiry()
    assert (nothing.next_expiry, nothing.message) == (None, "No item is going to expire, so the clock did not move.")


def test_an_advance_ages_stream_records_only_if_age_streams_is_set(mayfly):
    mayfly.clock.freeze(Y2031)
    mayfly.create_table("carts")
    mayfly.dynamodb.put_item(TableName="carts", Item={"id": {"S": "1"}})
    arn = mayfly.streams.list_streams(TableName="carts")["Streams"][0]["StreamArn"]

    def records() -> int:
        shard = mayfly.streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        iterator = mayfly.streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        return len(mayfly.streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"])

    mayfly.clock.advance(days=2)
    assert records() == 1
    mayfly.clock.advance(days=2, age_streams=True)
    assert records() == 0


def test_a_negative_advance_is_rejected(mayfly):
    with pytest.raises(ControlError, match=r"^'seconds' must be a number between 0 and "):
        mayfly.clock.advance(-1)


@pytest.mark.parametrize("text", ["2031-01-01T00:00:00Z", "2031-01-01T00:00:00.001Z", "2031-01-01T00:00:00.120Z"])
def test_a_time_keeps_its_milliseconds_when_it_is_converted_to_text_and_back(text):
    assert instant_of(instant_text(instant_of(text))) == instant_of(text)
    assert instant_of("2031-01-01T00:00:00.001Z").microsecond == 1000

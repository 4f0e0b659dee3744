"""In these tests the program's clock, datetime.now(), follows a world's clock. A process has only one clock, so each test
restores it."""

from __future__ import annotations

import datetime
import sys
import time
from datetime import timedelta, timezone

import pytest

from mayfly import FollowError, _follow

Y2031 = datetime.datetime(2031, 1, 1, tzinfo=timezone.utc)


@pytest.fixture(params=["time_machine", "freezegun"])
def _by(request, monkeypatch):
    """Runs the test with each of the two libraries, and hides the other one."""
    other = {"time_machine": "freezegun", "freezegun": "time_machine"}[request.param]
    monkeypatch.setitem(sys.modules, other, None)
    yield
    assert _follow._followed is None


def now() -> datetime.datetime:
    return datetime.datetime.now(timezone.utc)


@pytest.mark.usefixtures("_by")
def test_the_programs_clock_follows_every_change_of_the_worlds_clock(mayfly_server):
    before = now() - timedelta(milliseconds=1)  # the world's clock truncates to milliseconds
    with mayfly_server.world() as world:
        world.clock.freeze(Y2031, follow=True)
        assert now() == Y2031
        assert time.time() == Y2031.timestamp()
        snapshot = world.snapshot()
        world.clock.advance(hours=1)
        assert now() == Y2031 + timedelta(hours=1)
        world.clock.advance_to(Y2031 + timedelta(hours=2))
        assert now() == Y2031 + timedelta(hours=2)
        world.restore(snapshot)
        assert now() == Y2031
        world.clock.run()
        assert Y2031 <= now() < Y2031 + timedelta(minutes=1)
        world.clock.freeze()
        assert abs(now() - world.clock.now()) < timedelta(milliseconds=2)
        world.reset()
        assert before <= now() < before + timedelta(minutes=1)
        world.clock.freeze(Y2031)
        assert now() == Y2031
    assert before <= now() < before + timedelta(minutes=1)


@pytest.mark.usefixtures("_by")
def test_the_sdk_and_waits_work_while_the_programs_clock_follows_the_worlds_clock(mayfly_server):
    with mayfly_server.world() as world:
        world.clock.freeze(Y2031, follow=True)
        world.create_table("carts", ttl="ttl")
        world.resource.Table("carts").put_item(Item={"id": "1", "ttl": int(time.time()) + 3600})
        world.clock.advance(hours=1, seconds=1)
        assert world.wait_for("carts", {"id": "1"}, "REMOVE", since=Y2031).by == "service"


@pytest.mark.usefixtures("_by")
def test_unfollow_restores_the_programs_clock(mayfly):
    mayfly.clock.freeze(Y2031, follow=True)
    mayfly.clock.unfollow()
    mayfly.clock.unfollow()
    assert now() < Y2031
    mayfly.clock.advance(hours=1)
    assert now() < Y2031


@pytest.mark.usefixtures("_by")
def test_the_programs_clock_can_follow_only_one_world_at_a_time(mayfly_server):
    with mayfly_server.world() as one, mayfly_server.world() as other:
        one.clock.freeze(Y2031, follow=True)
        with pytest.raises(FollowError, match="^the program's clock already follows another world, "):
            other.clock.follow()
        other.clock.freeze("2035-01-01T00:00:00Z")
        assert now() == Y2031
        one.clock.unfollow()
        other.clock.follow()
        assert now().year == 2035


@pytest.mark.usefixtures("_by")
def test_the_programs_clock_cannot_follow_a_clock_that_runs_at_a_rate(mayfly):
    mayfly.clock.freeze(Y2031, follow=True)
    with pytest.raises(FollowError, match="^the program's clock cannot follow a clock that runs at a rate: "):
        mayfly.clock.rate(60)
    assert mayfly.clock.read().mode == "frozen"


def test_without_time_machine_and_freezegun_the_error_says_to_install_one(mayfly, monkeypatch):
    monkeypatch.setitem(sys.modules, "freezegun", None)
    monkeypatch.setitem(sys.modules, "time_machine", None)
    with pytest.raises(FollowError) as error:
        mayfly.clock.freeze(follow=True)
    assert str(error.value) == (
        "following the world's clock requires time-machine or freezegun: pip install time-machine"
    )

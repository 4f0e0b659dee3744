"""The program's clock, datetime.now(), moves with the world's. It is the whole process's, so each test gives it back."""

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
    """By the one that is installed: the other is not, as far as can be seen."""
    other = {"time_machine": "freezegun", "freezegun": "time_machine"}[request.param]
    monkeypatch.setitem(sys.modules, other, None)
    yield
    assert _follow._followed is None


def now() -> datetime.datetime:
    return datetime.datetime.now(timezone.utc)


@pytest.mark.usefixtures("_by")
def test_it_moves_with_every_move_of_the_worlds(mayfly_server):
    before = now() - timedelta(milliseconds=1)  # the world's clock counts whole milliseconds
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
def test_sdk_and_waiting_work_at_that_time(mayfly_server):
    with mayfly_server.world() as world:
        world.clock.freeze(Y2031, follow=True)
        world.create_table("carts", ttl="ttl")
        world.resource.Table("carts").put_item(Item={"id": "1", "ttl": int(time.time()) + 3600})
        world.clock.advance(hours=1, seconds=1)
        assert world.wait_for("carts", {"id": "1"}, "REMOVE", since=Y2031).by == "service"


@pytest.mark.usefixtures("_by")
def test_it_is_the_hosts_again_when_it_is_told_so(mayfly):
    mayfly.clock.freeze(Y2031, follow=True)
    mayfly.clock.unfollow()
    mayfly.clock.unfollow()
    assert now() < Y2031
    mayfly.clock.advance(hours=1)
    assert now() < Y2031


@pytest.mark.usefixtures("_by")
def test_it_follows_one_world_at_a_time(mayfly_server):
    with mayfly_server.world() as one, mayfly_server.world() as other:
        one.clock.freeze(Y2031, follow=True)
        with pytest.raises(FollowError, match="^the program's clock follows another world already, "):
            other.clock.follow()
        other.clock.freeze("2035-01-01T00:00:00Z")
        assert now() == Y2031
        one.clock.unfollow()
        other.clock.follow()
        assert now().year == 2035


@pytest.mark.usefixtures("_by")
def test_it_cannot_run_at_a_rate(mayfly):
    mayfly.clock.freeze(Y2031, follow=True)
    with pytest.raises(FollowError, match="^the program's clock cannot follow one that runs at a rate: "):
        mayfly.clock.rate(60)
    assert mayfly.clock.read().mode == "frozen"


def test_neither_is_installed(mayfly, monkeypatch):
    monkeypatch.setitem(sys.modules, "freezegun", None)
    monkeypatch.setitem(sys.modules, "time_machine", None)
    with pytest.raises(FollowError) as error:
        mayfly.clock.freeze(follow=True)
    assert str(error.value) == (
        "to have the program's clock follow the world's, install time-machine or freezegun: pip install time-machine"
    )

package mayfly_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestAFrozenClockStandsStillUntilItIsMoved(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	began := world.Clock.Freeze()
	if off := time.Since(began).Abs(); off > time.Minute {
		t.Errorf("a world's clock begins %v off", off)
	}
	equal(t, world.Clock.Now(), began)
	world.Clock.Advance(90 * time.Minute)
	equal(t, world.Clock.Now(), began.Add(90*time.Minute))
}

func TestAClockCanMoveBackOnlyWhileItsWorldHasNoTables(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	world.Clock.FreezeAt(time.Date(2020, 2, 29, 1, 0, 0, 5_000_000, time.FixedZone("", 3600)))
	equal(t, world.Clock.Now(), time.Date(2020, 2, 29, 0, 0, 0, 5_000_000, time.UTC))
	world.CreateTable(carts)
	world.Clock.Set(new2031)
	equal(t, world.Clock.Now(), new2031)

	var refused *mayfly.Error
	if err := world.World.Clock.Set(ctx, new2031.Add(-time.Second)); !errors.As(err, &refused) {
		t.Fatalf("moving back returned %v", err)
	}
	equal(t, refused.Type, "Conflict")
	equal(t, refused.Status, 409)
	equal(t, refused.Message, "The clock cannot go back while the account has tables: 2030-12-31T23:59:59Z is before "+
		"2031-01-01T00:00:00Z. To go back, reset the account or restore a snapshot.")
}

func TestAClockCanRunAtARateAndReturnToTheHostsTime(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	began := world.Clock.Freeze()
	world.Clock.Rate(1_000_000)
	for deadline := time.Now().Add(20 * time.Second); world.Clock.Now().Sub(began) < time.Hour; {
		if time.Now().After(deadline) {
			t.Fatal("less than an hour passed in twenty seconds")
		}
	}
	world.Clock.Real()
	if off := time.Since(world.Clock.Now()).Abs(); off > time.Minute {
		t.Errorf("the real clock is %v off", off)
	}
}

func TestAnAdvanceReportsExpiredItemsByTable(t *testing.T) {
	world := cartsWorld(t)
	now := world.Clock.Freeze().Truncate(time.Second)
	for id, hours := range map[string]time.Duration{"1": 1, "2": 2, "3": 72} {
		putCart(t, world.DynamoDB, id, now.Add(hours*time.Hour))
	}
	advanced := world.Clock.Advance(48 * time.Hour)
	equal(t, advanced.Expired, 2)
	equal(t, maps.Equal(advanced.Tables, map[string]int{"carts": 2}), true)
	equal(t, *advanced.NextExpiry, now.Add(72*time.Hour+time.Millisecond))
	equal(t, hasCart(t, world.DynamoDB, "2"), false)
	equal(t, hasCart(t, world.DynamoDB, "3"), true)

	advanced = world.Clock.AdvanceToNextExpiry()
	equal(t, advanced.Expired, 1)
	equal(t, advanced.Now, now.Add(72*time.Hour+time.Millisecond))
	equal(t, advanced.NextExpiry, nil)
	advanced = world.Clock.AdvanceToNextExpiry()
	equal(t, advanced.Message, "No item is going to expire, so the clock did not move.")
	equal(t, world.Clock.AdvanceTo(now.Add(100*time.Hour)).Now, now.Add(100*time.Hour))
}

func TestEachTestHasItsOwnClock(t *testing.T) {
	t.Parallel()
	one, other := mayflytest.Start(t), mayflytest.Start(t)
	began := other.Clock.Freeze()
	one.Clock.Freeze()
	one.Clock.Advance(1000 * time.Hour)
	equal(t, other.Clock.Now(), began)
}

func TestAnAdvanceAgesStreamRecordsOnlyIfAgeStreamsIsSet(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	putCart(t, world.DynamoDB, "1", new2031.Add(1000*time.Hour))
	since := mayfly.Wait{Since: new2031, Timeout: time.Millisecond}
	world.Clock.Advance(25 * time.Hour)
	equal(t, world.WaitFor("carts", key("1"), since).Event, mayfly.Insert)
	world.Clock.Advance(25*time.Hour, mayfly.AgeStreams())
	if _, err := world.World.WaitFor(ctx, "carts", key("1"), since); err == nil {
		t.Error("a record aged 25 hours was not trimmed")
	}
}

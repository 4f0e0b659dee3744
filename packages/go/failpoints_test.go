package mayfly_test

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestAnItemRenewedAtAFailpointSurvives(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	point := world.Failpoint("carts", key("1"))
	advanced := make(chan error, 1)
	go func() {
		_, err := world.World.Clock.Advance(ctx, 2*time.Hour)
		advanced <- err
	}()
	point.Reached()
	putCart(t, world.DynamoDB, "1", new2031.Add(5*time.Hour))
	point.Release()
	noError(t, <-advanced)
	equal(t, hasCart(t, world.DynamoDB, "1"), true)
	equal(t, world.Clock.Now(), new2031.Add(2*time.Hour))
}

func TestReachedReturnsAnErrorIfTheContextEndsOrTheFailpointIsReleased(t *testing.T) {
	world := cartsWorld(t)
	point, err := world.World.Failpoint(ctx, "carts", key("1"))
	noError(t, err)
	limited, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := point.Reached(limited); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	noError(t, world.ReleaseAll(ctx))
	if err := point.Reached(ctx); err == nil || err.Error() != "mayfly: the failpoint in table carts was released" {
		t.Errorf("the error is %v", err)
	}
}

package mayflytest

import (
	"context"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// Failpoint stops the expiry of an item just before the item is deleted.
type Failpoint struct {
	t     testing.TB
	point *mayfly.Failpoint
}

const reachedWait = 10 * time.Second

// Reached waits until the item's expiry has reached the failpoint. If that takes more than ten seconds, the test fails.
func (point Failpoint) Reached() {
	point.t.Helper()
	limited, cancel := context.WithTimeout(ctx, reachedWait)
	defer cancel()
	check(point.t, point.point.Reached(limited))
}

// Release lets the expiry continue. The item is re-checked and stays if it was renewed.
func (point Failpoint) Release() {
	point.t.Helper()
	check(point.t, point.point.Release(ctx))
}

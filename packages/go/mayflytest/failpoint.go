package mayflytest

import (
	"context"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// Failpoint keeps an item's expiry between its instant and its deletion.
type Failpoint struct {
	t     testing.TB
	point *mayfly.Failpoint
}

const reachedWait = 10 * time.Second

// Reached returns when the expiry has come to the point; after ten seconds without that the test fails.
func (point Failpoint) Reached() {
	point.t.Helper()
	limited, cancel := context.WithTimeout(ctx, reachedWait)
	defer cancel()
	check(point.t, point.point.Reached(limited))
}

// Release lets the expiry go on: the item is looked at again, and stays if it was renewed.
func (point Failpoint) Release() {
	point.t.Helper()
	check(point.t, point.point.Release(ctx))
}

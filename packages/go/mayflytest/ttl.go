package mayflytest

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// TTL is the time to live of a table.
type TTL struct {
	t   testing.TB
	ttl mayfly.TTL
}

// Status returns the state of the table's time to live.
func (ttl TTL) Status() mayfly.TTLStatus {
	ttl.t.Helper()
	status, err := ttl.ttl.Status(ctx)
	return must(ttl.t, status, err)
}

// Exact sets the mode to exact, the default: items are deleted at the instant at which they expire.
func (ttl TTL) Exact() {
	ttl.t.Helper()
	check(ttl.t, ttl.ttl.Exact(ctx))
}

// Manual sets the mode to manual: expired items stay until Sweep deletes them.
func (ttl TTL) Manual() {
	ttl.t.Helper()
	check(ttl.t, ttl.ttl.Manual(ctx))
}

// AWS sets the mode to aws: items are deleted late, each after a random delay between `least` and `most`, which are
// rounded down to whole seconds. The same seed gives the same delays.
func (ttl TTL) AWS(least, most time.Duration, seed int64) {
	ttl.t.Helper()
	check(ttl.t, ttl.ttl.AWS(ctx, least, most, seed))
}

// Sweep deletes expired items now and returns the number of items deleted.
func (ttl TTL) Sweep() int {
	ttl.t.Helper()
	expired, err := ttl.ttl.Sweep(ctx)
	return must(ttl.t, expired, err)
}

// Upcoming returns the next items that will expire, soonest first.
func (ttl TTL) Upcoming(limit int) []mayfly.Upcoming {
	ttl.t.Helper()
	items, err := ttl.ttl.Upcoming(ctx, limit)
	return must(ttl.t, items, err)
}

// Explain says why an item still exists, or why it does not.
func (ttl TTL) Explain(key any) mayfly.Explanation {
	ttl.t.Helper()
	explanation, err := ttl.ttl.Explain(ctx, key)
	return must(ttl.t, explanation, err)
}

package mayflytest

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// TTL is a table's time to live.
type TTL struct {
	t   testing.TB
	ttl mayfly.TTL
}

// Status tells what there is to say of it.
func (ttl TTL) Status() mayfly.TTLStatus {
	ttl.t.Helper()
	status, err := ttl.ttl.Status(ctx)
	return must(ttl.t, status, err)
}

// Exact has items deleted at the instant at which they are due, as a table begins.
func (ttl TTL) Exact() {
	ttl.t.Helper()
	check(ttl.t, ttl.ttl.Exact(ctx))
}

// Manual has them deleted by Sweep alone.
func (ttl TTL) Manual() {
	ttl.t.Helper()
	check(ttl.t, ttl.ttl.Manual(ctx))
}

// AWS has them deleted late, by a delay between the two, whole seconds, that is drawn from the seed.
func (ttl TTL) AWS(least, most time.Duration, seed int64) {
	ttl.t.Helper()
	check(ttl.t, ttl.ttl.AWS(ctx, least, most, seed))
}

// Sweep deletes what is due now, and returns how many that were.
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

// Explain says why an item is still there, or is not.
func (ttl TTL) Explain(key any) mayfly.Explanation {
	ttl.t.Helper()
	explanation, err := ttl.ttl.Explain(ctx, key)
	return must(ttl.t, explanation, err)
}

package mayflytest

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// Clock is the world's. The program's own clock goes on as ever: give the program Now instead of time.Now.
type Clock struct {
	t     testing.TB
	clock *mayfly.Clock
}

// Now is what the clock says. It is a func() time.Time, as programs take their clock.
func (clock Clock) Now() time.Time {
	clock.t.Helper()
	now, err := clock.clock.Now(ctx)
	return must(clock.t, now, err)
}

// Freeze lets it stand still, and returns when.
func (clock Clock) Freeze() time.Time {
	clock.t.Helper()
	now, err := clock.clock.Freeze(ctx)
	return must(clock.t, now, err)
}

// FreezeAt lets it stand still at that time. It can go back only while the world has no tables.
func (clock Clock) FreezeAt(at time.Time) {
	clock.t.Helper()
	check(clock.t, clock.clock.FreezeAt(ctx, at))
}

// Set moves it, frozen or running as it is.
func (clock Clock) Set(to time.Time) {
	clock.t.Helper()
	check(clock.t, clock.clock.Set(ctx, to))
}

// Real lets it be the host's.
func (clock Clock) Real() {
	clock.t.Helper()
	check(clock.t, clock.clock.Real(ctx))
}

// Rate lets it run so many times as fast as the host's.
func (clock Clock) Rate(times float64) {
	clock.t.Helper()
	check(clock.t, clock.clock.Rate(ctx, times))
}

// Advance moves it forward; then what fell due is deleted, gone from indexes, and readable in streams.
func (clock Clock) Advance(by time.Duration, options ...mayfly.AdvanceOption) mayfly.Advanced {
	clock.t.Helper()
	advanced, err := clock.clock.Advance(ctx, by, options...)
	return must(clock.t, advanced, err)
}

// AdvanceTo is Advance to a time.
func (clock Clock) AdvanceTo(to time.Time, options ...mayfly.AdvanceOption) mayfly.Advanced {
	clock.t.Helper()
	advanced, err := clock.clock.AdvanceTo(ctx, to, options...)
	return must(clock.t, advanced, err)
}

// AdvanceToNextExpiry is Advance to the next instant at which something expires.
func (clock Clock) AdvanceToNextExpiry(options ...mayfly.AdvanceOption) mayfly.Advanced {
	clock.t.Helper()
	advanced, err := clock.clock.AdvanceToNextExpiry(ctx, options...)
	return must(clock.t, advanced, err)
}

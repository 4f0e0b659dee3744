package mayflytest

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// Clock is the clock of the world. It does not affect time.Now: pass Clock.Now to the program instead.
type Clock struct {
	t     testing.TB
	clock *mayfly.Clock
}

// Now returns the clock's time. As a func() time.Time it can replace time.Now in a program.
func (clock Clock) Now() time.Time {
	clock.t.Helper()
	now, err := clock.clock.Now(ctx)
	return must(clock.t, now, err)
}

// Freeze stops the clock, and returns its time.
func (clock Clock) Freeze() time.Time {
	clock.t.Helper()
	now, err := clock.clock.Freeze(ctx)
	return must(clock.t, now, err)
}

// FreezeAt stops the clock at a time. A clock can move back only while the world has no tables.
func (clock Clock) FreezeAt(at time.Time) {
	clock.t.Helper()
	check(clock.t, clock.clock.FreezeAt(ctx, at))
}

// Set moves the clock to a time. A frozen clock stays frozen; otherwise the clock keeps running.
func (clock Clock) Set(to time.Time) {
	clock.t.Helper()
	check(clock.t, clock.clock.Set(ctx, to))
}

// Real makes the clock show the host's time again.
func (clock Clock) Real() {
	clock.t.Helper()
	check(clock.t, clock.clock.Real(ctx))
}

// Rate makes the clock run from its current time, `times` times as fast as the host's clock.
func (clock Clock) Rate(times float64) {
	clock.t.Helper()
	check(clock.t, clock.clock.Rate(ctx, times))
}

// Advance moves the clock forward. When it returns, expired items are gone from the table and its indexes, and their stream
// records can be read. With mayfly.Settle, the test fails if a function that was not registered with mayfly.MayFail fails.
func (clock Clock) Advance(by time.Duration, options ...mayfly.AdvanceOption) mayfly.Advanced {
	clock.t.Helper()
	advanced, err := clock.clock.Advance(ctx, by, options...)
	return must(clock.t, advanced, err)
}

// AdvanceTo advances the clock to a time.
func (clock Clock) AdvanceTo(to time.Time, options ...mayfly.AdvanceOption) mayfly.Advanced {
	clock.t.Helper()
	advanced, err := clock.clock.AdvanceTo(ctx, to, options...)
	return must(clock.t, advanced, err)
}

// AdvanceToNextExpiry advances the clock to the next instant at which an item expires.
func (clock Clock) AdvanceToNextExpiry(options ...mayfly.AdvanceOption) mayfly.Advanced {
	clock.t.Helper()
	advanced, err := clock.clock.AdvanceToNextExpiry(ctx, options...)
	return must(clock.t, advanced, err)
}

package mayfly

import (
	"context"
	"time"
)

// Clock is a world's: TTL, creation times and the age of stream records go by it. The program's own clock, time.Now,
// goes on as ever: code that writes a TTL takes its time from Now.
type Clock struct{ world *World }

// Now is what the clock says, to the millisecond, in UTC.
func (clock *Clock) Now(ctx context.Context) (time.Time, error) {
	var said struct{ Now time.Time }
	err := clock.world.Control(ctx, "GET", "/clock", nil, &said)
	return said.Now, err
}

// Freeze lets it stand still, and returns when.
func (clock *Clock) Freeze(ctx context.Context) (time.Time, error) {
	return clock.set(ctx, map[string]any{"mode": "frozen"})
}

// FreezeAt lets it stand still at that time. A time in its past is refused with Conflict while the world has tables.
func (clock *Clock) FreezeAt(ctx context.Context, at time.Time) error {
	_, err := clock.set(ctx, map[string]any{"mode": "frozen", "now": instant(at)})
	return err
}

// Set moves it, frozen or running as it is; forward, what falls due on the way is deleted.
func (clock *Clock) Set(ctx context.Context, to time.Time) error {
	_, err := clock.set(ctx, map[string]any{"now": instant(to)})
	return err
}

// Real lets it be the host's. Refused with Conflict if it is ahead of that and the world has tables.
func (clock *Clock) Real(ctx context.Context) error {
	_, err := clock.set(ctx, map[string]any{"mode": "real"})
	return err
}

// Rate lets it run so many times as fast as the host's, from where it is.
func (clock *Clock) Rate(ctx context.Context, times float64) error {
	_, err := clock.set(ctx, map[string]any{"rate": times})
	return err
}

func (clock *Clock) set(ctx context.Context, body map[string]any) (time.Time, error) {
	var said struct{ Now time.Time }
	err := clock.world.Control(ctx, "PUT", "/clock", body, &said)
	return said.Now, err
}

// Advanced is what an advance of the clock brought about.
type Advanced struct {
	Now        time.Time
	Expired    int            // how many items
	Tables     map[string]int // how many of each table; without those that lost none
	NextExpiry *time.Time     `json:"next_expiry"` // nil: nothing is going to expire
	Message    string         // why the clock stayed where it was, if it did
	Settled    bool           // with Settle: everything in the streams has reached its functions
	Unfinished []Unfinished   // with Settle: the mappings that are not done
}

// Unfinished is an event source mapping that was not done in time.
type Unfinished struct {
	UUID, FunctionArn, EventSourceArn string
	LastProcessingResult              string // why
}

// AdvanceOption is Settle, SettleWithin or AgeStreams.
type AdvanceOption func(body map[string]any)

// Settle has an advance return when everything that is in the world's streams has reached its functions, or was given
// up, for at most 30 seconds.
func Settle() AdvanceOption { return func(body map[string]any) { body["settle"] = "triggers" } }

// SettleWithin is Settle with another time, at most ten minutes.
func SettleWithin(longest time.Duration) AdvanceOption {
	return func(body map[string]any) { body["settle"], body["settle_seconds"] = "triggers", longest.Seconds() }
}

// AgeStreams has stream records and iterators age by the jump: 24 hours later a record is trimmed.
func AgeStreams() AdvanceOption { return func(body map[string]any) { body["age_streams"] = true } }

// Advance moves the clock forward, through every instant at which something expires. When it returns, what fell due is
// deleted, gone from indexes, and readable in streams.
func (clock *Clock) Advance(ctx context.Context, by time.Duration, options ...AdvanceOption) (Advanced, error) {
	return clock.advance(ctx, map[string]any{"seconds": by.Seconds()}, options)
}

// AdvanceTo is Advance to a time; one that has passed is refused with Conflict.
func (clock *Clock) AdvanceTo(ctx context.Context, to time.Time, options ...AdvanceOption) (Advanced, error) {
	return clock.advance(ctx, map[string]any{"to": instant(to)}, options)
}

// AdvanceToNextExpiry is Advance to the next instant at which something expires. If nothing is going to, the clock stays
// where it is, and Message says so.
func (clock *Clock) AdvanceToNextExpiry(ctx context.Context, options ...AdvanceOption) (Advanced, error) {
	return clock.advance(ctx, map[string]any{"to": "next-expiry"}, options)
}

func (clock *Clock) advance(ctx context.Context, body map[string]any, options []AdvanceOption) (Advanced, error) {
	for _, option := range options {
		option(body)
	}
	var advanced Advanced
	err := clock.world.Control(ctx, "POST", "/clock/advance", body, &advanced)
	return advanced, err
}

// A time as the control API takes it.
func instant(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

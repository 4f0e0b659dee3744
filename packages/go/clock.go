package mayfly

import (
	"context"
	"fmt"
	"time"
)

// Clock is the clock of a world. TTL, creation times and the age of stream records follow it. It does not affect time.Now:
// code that writes a TTL must take the time from Clock.Now.
type Clock struct{ world *World }

// Now returns the clock's time in UTC, to the millisecond.
func (clock *Clock) Now(ctx context.Context) (time.Time, error) {
	var said struct{ Now time.Time }
	err := clock.world.Control(ctx, "GET", "/clock", nil, &said)
	return said.Now, err
}

// Freeze stops the clock, and returns its time.
func (clock *Clock) Freeze(ctx context.Context) (time.Time, error) {
	return clock.set(ctx, map[string]any{"mode": "frozen"})
}

// FreezeAt stops the clock at a time. It returns a Conflict error if the clock is past that time and the world has tables.
func (clock *Clock) FreezeAt(ctx context.Context, at time.Time) error {
	_, err := clock.set(ctx, map[string]any{"mode": "frozen", "now": instant(at)})
	return err
}

// Set moves the clock to a time, and deletes the items that expire by then. A frozen clock stays frozen; otherwise the clock
// keeps running.
func (clock *Clock) Set(ctx context.Context, to time.Time) error {
	_, err := clock.set(ctx, map[string]any{"now": instant(to)})
	return err
}

// Real makes the clock show the host's time again. It returns a Conflict error if the clock is ahead of the host's time
// and the world has tables.
func (clock *Clock) Real(ctx context.Context) error {
	_, err := clock.set(ctx, map[string]any{"mode": "real"})
	return err
}

// Rate makes the clock run from its current time, `times` times as fast as the host's clock.
func (clock *Clock) Rate(ctx context.Context, times float64) error {
	_, err := clock.set(ctx, map[string]any{"rate": times})
	return err
}

func (clock *Clock) set(ctx context.Context, body map[string]any) (time.Time, error) {
	var said struct{ Now time.Time }
	err := clock.world.Control(ctx, "PUT", "/clock", body, &said)
	return said.Now, err
}

// Advanced is the result of an advance of the clock.
type Advanced struct {
	Now        time.Time
	Expired    int            // items that expired
	Tables     map[string]int // expired items by table; tables without expired items are omitted
	NextExpiry *time.Time     `json:"next_expiry"` // nil: no item will expire
	Message    string         // why the clock did not move; empty if it moved

	Never       map[string]map[TTLReason]int // items whose TTL can never fire, by table and reason
	BornExpired map[string]int               `json:"born_expired"` // items written with a TTL that had already passed, by table

	// Set only by an advance with Settle or SettleWithin:
	Settled    bool         // whether every stream record has reached its functions
	Unfinished []Unfinished // mappings that still have records to deliver
	GivenUp    []GivenUp    `json:"given_up"` // batches that the server gave up on since the last settle
}

// Unfinished is an event source mapping that still has records to deliver.
type Unfinished struct {
	UUID, FunctionArn, EventSourceArn string
	Function, Table                   string
	LastProcessingResult              string    // "PROBLEM: Function call failed", …
	Retrying                          *Retrying // nil: no batch is being retried
	Registered                        *bool     // false: the function is not registered; nil otherwise
}

// Retrying describes a failing batch that the server keeps retrying.
type Retrying struct {
	Attempts int // number of attempts so far
	Records  int // number of records in the batch
	Error    InvocationError
}

// GivenUp is a batch that the server gave up on.
type GivenUp struct {
	UUID        string // UUID of the mapping
	Function    string
	Table       string
	Stream      string // ARN of the table's stream
	Condition   string // Lambda's name for the reason: RetryAttemptsExhausted, RecordAgeExceeded, …
	Attempts    int
	Error       InvocationError
	Records     []GivenUpRecord
	LeftOut     int    `json:"left_out"` // number of records of the batch that Records omits
	Destination string // where Lambda would send the failed batch; empty: the mapping has no destination
}

// GivenUpRecord is a stream record in a batch that the server gave up on.
type GivenUpRecord struct {
	SequenceNumber string `json:"sequence_number"`
	Event          Event
	Key            Item
}

// InvocationError describes how the last invocation of a function failed. Fields that do not apply are empty.
type InvocationError struct {
	Status  int    // HTTP status
	Kind    string `json:"error"` // "Unhandled", …
	Type    string // errorType in the function's response
	Message string // errorMessage in the function's response
}

func (e InvocationError) String() string {
	switch {
	case e.Type != "" && e.Message != "":
		return e.Type + ": " + e.Message
	case e.Type+e.Message != "":
		return e.Type + e.Message
	case e.Kind != "" && e.Status != 0:
		return fmt.Sprintf("%s (HTTP status %d)", e.Kind, e.Status)
	case e.Status != 0:
		return fmt.Sprintf("HTTP status %d", e.Status)
	default:
		return e.Kind
	}
}

// AdvanceOption is an option of an advance: Settle, SettleWithin or AgeStreams.
type AdvanceOption func(body map[string]any)

// Settle makes an advance wait at most 30 seconds of real time until every record in the world's streams has reached
// its functions. If a function that was not registered with MayFail fails, the advance returns a *HandlerError. The
// advance does not wait for a function that keeps failing.
func Settle() AdvanceOption { return func(body map[string]any) { body["settle"] = "triggers" } }

// SettleWithin is like Settle, but with a different time limit: at most ten minutes.
func SettleWithin(longest time.Duration) AdvanceOption {
	return func(body map[string]any) { body["settle"], body["settle_seconds"] = "triggers", longest.Seconds() }
}

// AgeStreams makes stream records and iterators age with the advance, so that records older than 24 hours are trimmed.
func AgeStreams() AdvanceOption { return func(body map[string]any) { body["age_streams"] = true } }

// Advance moves the clock forward, through every instant at which an item expires. When it returns, expired items are gone
// from the table and its indexes, and their stream records can be read.
//
// With Settle, the error can be a *HandlerError. The result is valid even then.
func (clock *Clock) Advance(ctx context.Context, by time.Duration, options ...AdvanceOption) (Advanced, error) {
	return clock.advance(ctx, map[string]any{"seconds": by.Seconds()}, options)
}

// AdvanceTo advances the clock to a time. It returns a Conflict error if the clock is past that time.
func (clock *Clock) AdvanceTo(ctx context.Context, to time.Time, options ...AdvanceOption) (Advanced, error) {
	return clock.advance(ctx, map[string]any{"to": instant(to)}, options)
}

// AdvanceToNextExpiry advances the clock to the next instant at which an item expires. If no item will expire, the clock
// does not move, and Message says so.
func (clock *Clock) AdvanceToNextExpiry(ctx context.Context, options ...AdvanceOption) (Advanced, error) {
	return clock.advance(ctx, map[string]any{"to": "next-expiry"}, options)
}

func (clock *Clock) advance(ctx context.Context, body map[string]any, options []AdvanceOption) (Advanced, error) {
	for _, option := range options {
		option(body)
	}
	var advanced Advanced
	err := clock.world.Control(ctx, "POST", "/clock/advance", body, &advanced)
	if _, settles := body["settle"]; settles && err == nil {
		err = clock.world.checkSettled(advanced)
	}
	return advanced, err
}

// Settle waits until every record in the world's streams has reached its functions, without moving the clock. It is
// equivalent to Clock.Advance(ctx, 0, Settle()). The default time limit is 30 seconds; SettleWithin sets a different
// limit.
func (world *World) Settle(ctx context.Context, options ...AdvanceOption) (Advanced, error) {
	return world.Clock.Advance(ctx, 0, append([]AdvanceOption{Settle()}, options...)...)
}

// instant formats a time for the control API.
func instant(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

package mayfly

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
)

// TTL is the time to live of a table.
type TTL struct {
	world *World
	table string
}

// TTL returns the time to live of a table. The table does not have to exist yet.
func (world *World) TTL(table string) TTL { return TTL{world, table} }

// TTLMode says when expired items are deleted.
type TTLMode string

const (
	TTLExact  TTLMode = "exact"  // immediately
	TTLAWS    TTLMode = "aws"    // late, as on AWS
	TTLManual TTLMode = "manual" // when Sweep is called
)

// TTLReason says why a TTL is suspect.
type TTLReason string

const (
	TTLMilliseconds TTLReason = "milliseconds" // a number that looks like milliseconds or a smaller unit: never fires
	TTLString       TTLReason = "string"       // a string: never fires
	TTLWrongType    TTLReason = "wrong_type"   // neither number nor string: never fires
	TTLTooOld       TTLReason = "too_old"      // more than five years ago or negative: never fires
	TTLBornExpired  TTLReason = "born_expired" // a time that had passed when the item was written
)

// TTLStatus describes the time to live of a table.
type TTLStatus struct {
	Status       string // ENABLED or DISABLED
	Attribute    string // empty: disabled
	Mode         TTLMode
	DelaySeconds []float64  `json:"delay_seconds"` // in mode aws: minimum and maximum
	Pending      int        // items that will expire
	Due          int        // pending items whose TTL has passed
	NextDue      *time.Time `json:"next_due"` // nil: no item will expire
	Expired      int        // items that expired and were deleted since the server started
	BornExpired  int        `json:"born_expired"` // expired items whose TTL had passed when they were written

	Never    map[TTLReason]int // items whose TTL can never fire
	Suspects []TTLSuspect      // the latest items whose TTL can never fire or had passed when they were written; at most 10
}

// TTLSuspect is an item whose TTL is probably wrong.
type TTLSuspect struct {
	Table   string
	Key     Item
	Reason  TTLReason
	Message string // why the TTL is probably wrong
	At      time.Time
}

// Status returns the state of the table's time to live.
func (ttl TTL) Status(ctx context.Context) (TTLStatus, error) {
	var status TTLStatus
	err := ttl.world.Control(ctx, "GET", ttl.path(""), nil, &status)
	status.name(ttl.table)
	return status, err
}

func (status *TTLStatus) name(table string) {
	for i := range status.Suspects {
		status.Suspects[i].Table = table
	}
}

// TTLSuspects returns the items whose TTL is probably wrong, from all tables, sorted by table.
func (world *World) TTLSuspects(ctx context.Context) ([]TTLSuspect, error) {
	var answer struct{ Tables map[string]TTLStatus }
	err := world.Control(ctx, "GET", "/ttl", nil, &answer)
	var suspects []TTLSuspect
	for _, table := range slices.Sorted(maps.Keys(answer.Tables)) {
		status := answer.Tables[table]
		status.name(table)
		suspects = append(suspects, status.Suspects...)
	}
	return suspects, err
}

// Exact sets the mode to exact, the default: items are deleted at the instant at which they expire.
func (ttl TTL) Exact(ctx context.Context) error {
	return ttl.set(ctx, map[string]any{"mode": TTLExact})
}

// Manual sets the mode to manual: expired items stay until Sweep deletes them.
func (ttl TTL) Manual(ctx context.Context) error {
	return ttl.set(ctx, map[string]any{"mode": TTLManual})
}

// AWS sets the mode to aws: items are deleted late, as on AWS, each after a random delay between `least` and `most`,
// which are rounded down to whole seconds. The same seed gives the same delays.
func (ttl TTL) AWS(ctx context.Context, least, most time.Duration, seed int64) error {
	delay := []int64{int64(least / time.Second), int64(most / time.Second)}
	return ttl.set(ctx, map[string]any{"mode": TTLAWS, "delay_seconds": delay, "seed": seed})
}

// Sweep deletes expired items now, in every mode, and returns the number of items deleted.
func (ttl TTL) Sweep(ctx context.Context) (int, error) {
	var swept struct{ Expired int }
	err := ttl.world.Control(ctx, "POST", ttl.path("/sweep"), nil, &swept)
	return swept.Expired, err
}

// Upcoming is an item that will expire.
type Upcoming struct {
	Key       Item
	Due       time.Time
	ExpiresAt *time.Time `json:"expires_at"` // nil: at the next Sweep
}

// Upcoming returns the next items that will expire, soonest first; `limit` is 1 to 10,000.
func (ttl TTL) Upcoming(ctx context.Context, limit int) ([]Upcoming, error) {
	var answer struct{ Items []Upcoming }
	err := ttl.world.Control(ctx, "GET", ttl.path(fmt.Sprintf("/upcoming?limit=%d", limit)), nil, &answer)
	return answer.Items, err
}

// Explanation says why an item still exists, or why it does not.
type Explanation struct {
	Reason    string     // due, not_due, delayed, expired, born_expired, no_item, no_attribute, not_a_number, …
	ExpiresAt *time.Time `json:"expires_at"` // nil: never, or at the next Sweep
	Message   string     // why the item still exists, or why it does not
}

// Explain says why the item with this key still exists, or why it does not. The key is map[string]any{"id": "1"}, a struct,
// or attribute values.
func (ttl TTL) Explain(ctx context.Context, key any) (Explanation, error) {
	item, err := keyOf(key)
	if err != nil {
		return Explanation{}, err
	}
	var explanation Explanation
	err = ttl.world.Control(ctx, "POST", ttl.path("/explain"), map[string]any{"key": item}, &explanation)
	return explanation, err
}

// Explain is equivalent to TTL(table).Explain(ctx, key).
func (world *World) Explain(ctx context.Context, table string, key any) (Explanation, error) {
	return world.TTL(table).Explain(ctx, key)
}

func (ttl TTL) set(ctx context.Context, body map[string]any) error {
	return ttl.world.Control(ctx, "PUT", ttl.path(""), body, nil)
}

func (ttl TTL) path(rest string) string { return "/ttl/" + url.PathEscape(ttl.table) + rest }

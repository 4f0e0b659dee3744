package mayfly

import (
	"context"
	"fmt"
	"net/url"
	"time"
)

// TTL is a table's time to live: when what is due is deleted, and why an item is not.
type TTL struct {
	world *World
	table string
}

// TTL is that of a table, which need not be there yet.
func (world *World) TTL(table string) TTL { return TTL{world, table} }

// TTLMode says when items that are due are deleted: exact, at once; aws, later; manual, when Sweep says so.
type TTLMode string

const (
	TTLExact  TTLMode = "exact"
	TTLAWS    TTLMode = "aws"
	TTLManual TTLMode = "manual"
)

// TTLStatus is what there is to say of a table's time to live.
type TTLStatus struct {
	Status       string // ENABLED or DISABLED
	Attribute    string // empty: disabled
	Mode         TTLMode
	DelaySeconds []float64  `json:"delay_seconds"` // of the mode aws: the least and the most
	Pending      int        // items that will expire
	Due          int        // those of them whose time has come
	NextDue      *time.Time `json:"next_due"` // nil: none
	Expired      int        // deleted since the server started
	BornExpired  int        `json:"born_expired"` // those of them that were due when they were written
}

// Status tells all of it.
func (ttl TTL) Status(ctx context.Context) (TTLStatus, error) {
	var status TTLStatus
	err := ttl.world.Control(ctx, "GET", ttl.path(""), nil, &status)
	return status, err
}

// Exact has items deleted at the instant at which they are due, as a table begins.
func (ttl TTL) Exact(ctx context.Context) error {
	return ttl.set(ctx, map[string]any{"mode": TTLExact})
}

// Manual has them deleted by Sweep alone.
func (ttl TTL) Manual(ctx context.Context) error {
	return ttl.set(ctx, map[string]any{"mode": TTLManual})
}

// AWS has them deleted late, as AWS does; each by a delay between the two, whole seconds, that is drawn from the seed.
func (ttl TTL) AWS(ctx context.Context, least, most time.Duration, seed int64) error {
	delay := []int64{int64(least / time.Second), int64(most / time.Second)}
	return ttl.set(ctx, map[string]any{"mode": TTLAWS, "delay_seconds": delay, "seed": seed})
}

// Sweep deletes what is due now, in every mode, and returns how many that were.
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

// Explanation says why an item is still there, or is not.
type Explanation struct {
	Reason    string     // due, not_due, delayed, expired, born_expired, no_item, no_attribute, not_a_number, …
	ExpiresAt *time.Time `json:"expires_at"` // nil: never, or at the next Sweep
	Message   string     // a sentence
}

// Explain says it of the item with that key: map[string]any{"id": "1"}, a struct, or attribute values.
func (ttl TTL) Explain(ctx context.Context, key any) (Explanation, error) {
	item, err := keyOf(key)
	if err != nil {
		return Explanation{}, err
	}
	var explanation Explanation
	err = ttl.world.Control(ctx, "POST", ttl.path("/explain"), map[string]any{"key": item}, &explanation)
	return explanation, err
}

// Explain is TTL(table).Explain(ctx, key).
func (world *World) Explain(ctx context.Context, table string, key any) (Explanation, error) {
	return world.TTL(table).Explain(ctx, key)
}

func (ttl TTL) set(ctx context.Context, body map[string]any) error {
	return ttl.world.Control(ctx, "PUT", ttl.path(""), body, nil)
}

func (ttl TTL) path(rest string) string { return "/ttl/" + url.PathEscape(ttl.table) + rest }

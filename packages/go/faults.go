package mayfly

import "context"

// Fault is a rule by which operations fail. Empty members do not narrow it down.
type Fault struct {
	Kind      FaultKind `json:"fault"`
	Operation string    `json:"operation,omitempty"` // PutItem, …
	Table     string    `json:"table,omitempty"`
	// Of Throttle: ProvisionedThroughputExceededException, ThrottlingException or RequestLimitExceeded.
	Exception    string  `json:"exception,omitempty"`
	Milliseconds int     `json:"milliseconds,omitempty"` // of Latency, and of StaleReads by the world's clock
	Writes       int     `json:"writes,omitempty"`       // of StaleReads: how many commits a read may be behind
	Items        int     `json:"items,omitempty"`        // of Unprocessed: how many are left; 0: all
	Count        int     `json:"count,omitempty"`        // how often it strikes; 0: always
	Probability  float64 `json:"probability,omitempty"`  // that it strikes; 0: 1
	Seed         int64   `json:"seed,omitempty"`         // what is left to chance is drawn from it
}

// FaultKind is what the client gets.
type FaultKind string

const (
	Throttle                FaultKind = "throttle"
	InternalServerError     FaultKind = "internal_server_error"
	Latency                 FaultKind = "latency"
	Unprocessed             FaultKind = "unprocessed"
	TransactionConflict     FaultKind = "transaction_conflict"
	StaleReads              FaultKind = "stale_reads"
	ReplicatedWriteConflict FaultKind = "replicated_write_conflict"
)

// FaultCount is a rule, and what became of it.
type FaultCount struct {
	Fault
	Asked  int // how many operations it fitted
	Struck int // how many of them failed by it
}

// Faults has the world fail by these rules and no others. The first one that fits strikes; latencies add up.
func (world *World) Faults(ctx context.Context, rules ...Fault) error {
	if rules == nil {
		rules = []Fault{}
	}
	return world.Control(ctx, "PUT", "/faults", map[string]any{"rules": rules}, nil)
}

// ClearFaults has nothing fail.
func (world *World) ClearFaults(ctx context.Context) error {
	return world.Control(ctx, "DELETE", "/faults", nil, nil)
}

// FaultCounts tells how often each rule was asked and struck.
func (world *World) FaultCounts(ctx context.Context) ([]FaultCount, error) {
	var answer struct{ Rules []FaultCount }
	err := world.Control(ctx, "GET", "/faults", nil, &answer)
	return answer.Rules, err
}

package mayfly

import "context"

// Fault is a rule that makes operations fail. An empty Operation or Table matches every operation or table.
type Fault struct {
	Kind      FaultKind `json:"fault"`
	Operation string    `json:"operation,omitempty"` // PutItem, …
	Table     string    `json:"table,omitempty"`
	// For Throttle: ProvisionedThroughputExceededException, ThrottlingException or RequestLimitExceeded. Empty: the exception
	// that AWS would return.
	Exception string `json:"exception,omitempty"`
	// For InternalServerError and ConnectionClosed: whether the operation takes effect although the client gets an error;
	// nil: false. For Latency: whether a write takes effect before the delay rather than after it; nil: true.
	Applied      *bool   `json:"applied,omitempty"`
	Milliseconds int     `json:"milliseconds,omitempty"` // delay of Latency (real time) or lag of StaleReads (world's clock)
	Writes       int     `json:"writes,omitempty"`       // for StaleReads: how many commits a read can lag behind
	Items        int     `json:"items,omitempty"`        // for Unprocessed: how many items stay unprocessed; 0: all
	Count        int     `json:"count,omitempty"`        // how many operations fail; 0: all matching ones
	Probability  float64 `json:"probability,omitempty"`  // probability that a matching operation fails; 0 means 1
	Seed         int64   `json:"seed,omitempty"`         // seed of the random choices
}

// FaultKind is a kind of failure.
type FaultKind string

const (
	Throttle                FaultKind = "throttle"
	InternalServerError     FaultKind = "internal_server_error"
	Latency                 FaultKind = "latency"
	ConnectionClosed        FaultKind = "connection_closed"
	Unprocessed             FaultKind = "unprocessed"
	TransactionConflict     FaultKind = "transaction_conflict"
	StaleReads              FaultKind = "stale_reads"
	ReplicatedWriteConflict FaultKind = "replicated_write_conflict"
)

// FaultCount says how often a rule was applied.
type FaultCount struct {
	Fault
	Asked  int // operations that the rule matched
	Struck int // operations that the rule was applied to
}

// Faults replaces all fault rules of the world. If several rules match an operation, only the first one applies, except
// that the delays of all matching Latency rules add up.
func (world *World) Faults(ctx context.Context, rules ...Fault) error {
	if rules == nil {
		rules = []Fault{}
	}
	return world.Control(ctx, "PUT", "/faults", map[string]any{"rules": rules}, nil)
}

// ClearFaults removes all fault rules.
func (world *World) ClearFaults(ctx context.Context) error {
	return world.Control(ctx, "DELETE", "/faults", nil, nil)
}

// FaultCounts returns how many operations each rule matched and how many it was applied to.
func (world *World) FaultCounts(ctx context.Context) ([]FaultCount, error) {
	var answer struct{ Rules []FaultCount }
	err := world.Control(ctx, "GET", "/faults", nil, &answer)
	return answer.Rules, err
}

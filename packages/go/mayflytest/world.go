package mayflytest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// World is the test's own account. DynamoDB and Streams are AWS SDK clients for it, and Config returns a configuration
// for other clients. Where a method of the embedded World returns an error, this type's method of the same name fails
// the test.
type World struct {
	*mayfly.World // for other goroutines, and for errors that the test expects
	Clock         Clock
	t             testing.TB
}

// ctx is the context of all calls. It is not t.Context, because that context is canceled before the test's cleanup
// functions run, and those functions call the server.
var ctx = context.Background()

// logLag is how long the server's log lines about a request can take to arrive after the response.
const logLag = 50 * time.Millisecond

const suspectsWait = 5 * time.Second

func newWorld(t testing.TB, server *mayfly.Server) *World {
	world := &World{World: server.World(), t: t}
	world.Clock = Clock{t, world.World.Clock}
	t.Cleanup(func() {
		if err := world.CheckHandlers(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			world.report()
		}
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	return world
}

// report logs information that can explain why the test failed.
func (world *World) report() {
	limited, cancel := context.WithTimeout(ctx, suspectsWait)
	defer cancel()
	suspects, err := world.TTLSuspects(limited)
	for _, suspect := range suspects {
		key, _ := json.Marshal(suspect.Key)
		world.t.Logf("mayfly: check the TTL of %s/%s: %s", suspect.Table, key, suspect.Message)
	}
	if err == nil { // if the server has ended, the test's error already shows the log
		time.Sleep(logLag)
		if log := world.Log(); log != "" {
			world.t.Logf("mayfly's log of this test (account %s):\n%s", world.Account(), log)
		}
	}
}

// check fails the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](t testing.TB, value T, err error) T {
	t.Helper()
	check(t, err)
	return value
}

// CreateTable creates a table, enables its TTL, and returns its description.
func (world *World) CreateTable(table mayfly.Table) *types.TableDescription {
	world.t.Helper()
	description, err := world.World.CreateTable(ctx, table)
	return must(world.t, description, err)
}

// Settle waits until every record in the world's streams has reached its functions, without moving the clock. The test
// fails if a function that was not registered with mayfly.MayFail fails.
func (world *World) Settle(options ...mayfly.AdvanceOption) mayfly.Advanced {
	world.t.Helper()
	advanced, err := world.World.Settle(ctx, options...)
	return must(world.t, advanced, err)
}

// WaitFor waits for a change to the item and returns the change's record. If the change does not happen in time, the test
// fails, and the message lists the item's other changes.
func (world *World) WaitFor(table string, key any, wait mayfly.Wait) mayfly.Record {
	world.t.Helper()
	record, err := world.World.WaitFor(ctx, table, key, wait)
	return must(world.t, record, err)
}

// Explain says why an item still exists, or why it does not.
func (world *World) Explain(table string, key any) mayfly.Explanation {
	world.t.Helper()
	explanation, err := world.World.Explain(ctx, table, key)
	return must(world.t, explanation, err)
}

// TTL returns the time to live of a table.
func (world *World) TTL(table string) TTL { return TTL{world.t, world.World.TTL(table)} }

// Snapshot saves the state of the world.
func (world *World) Snapshot() mayfly.SnapshotID {
	world.t.Helper()
	id, err := world.World.Snapshot(ctx)
	return must(world.t, id, err)
}

// Restore restores the state that a snapshot saved, including the clock.
func (world *World) Restore(snapshot mayfly.SnapshotID) {
	world.t.Helper()
	check(world.t, world.World.Restore(ctx, snapshot))
}

// DeleteSnapshot deletes a snapshot.
func (world *World) DeleteSnapshot(snapshot mayfly.SnapshotID) {
	world.t.Helper()
	check(world.t, world.World.DeleteSnapshot(ctx, snapshot))
}

// Reset deletes everything except registered functions, and resets the clock.
func (world *World) Reset() {
	world.t.Helper()
	check(world.t, world.World.Reset(ctx))
}

// Faults replaces all fault rules of the world.
func (world *World) Faults(rules ...mayfly.Fault) {
	world.t.Helper()
	check(world.t, world.World.Faults(ctx, rules...))
}

// ClearFaults removes all fault rules.
func (world *World) ClearFaults() {
	world.t.Helper()
	check(world.t, world.World.ClearFaults(ctx))
}

// FaultCounts returns how many operations each rule matched and how many it was applied to.
func (world *World) FaultCounts() []mayfly.FaultCount {
	world.t.Helper()
	counts, err := world.World.FaultCounts(ctx)
	return must(world.t, counts, err)
}

// Failpoint stops the item's expiry just before the item is deleted, until the failpoint is released. An advance blocks
// at the failpoint, so run the advance in another goroutine, through world.World.Clock.
func (world *World) Failpoint(table string, key any) Failpoint {
	world.t.Helper()
	point, err := world.World.Failpoint(ctx, table, key)
	return Failpoint{world.t, must(world.t, point, err)}
}

// Function registers a function of the test so that event source mappings and Lambda's Invoke can call it. Unless
// mayfly.MayFail is given, an error or a panic in the function fails the test at Settle, at an Advance with
// mayfly.Settle or at the test's end.
func (world *World) Function(name string, function mayfly.Function, options ...mayfly.FunctionOption) {
	world.t.Helper()
	check(world.t, world.World.Function(ctx, name, function, options...))
}

// FunctionAt registers a function that runs at a URL, http://….
func (world *World) FunctionAt(name, address string, timeout time.Duration, options ...mayfly.FunctionOption) {
	world.t.Helper()
	check(world.t, world.World.FunctionAt(ctx, name, address, timeout, options...))
}

// Trigger creates an event source mapping that calls a function with the records of the table's stream, and returns the
// mapping's UUID.
func (world *World) Trigger(table, function string, settings map[string]any) string {
	world.t.Helper()
	id, err := world.World.Trigger(ctx, table, function, settings)
	return must(world.t, id, err)
}

// Control makes any call to the control API and returns the response.
func (world *World) Control(method, path string, body any) json.RawMessage {
	world.t.Helper()
	var answer json.RawMessage
	check(world.t, world.World.Control(ctx, method, path, body, &answer))
	return answer
}

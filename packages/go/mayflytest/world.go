package mayflytest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// World is a test's own account: DynamoDB and Streams are clients of AWS's SDK, ready; Account, URL, Region, Config and
// Environment are for what else there is. Its methods fail the test if they fail.
type World struct {
	*mayfly.World // the same with errors, for other goroutines
	Clock         Clock
	t             testing.TB
}

// A World ends with its test, not with t.Context, which is over before the test's own clean-up runs.
var ctx = context.Background()

// What the server wrote is on its way for a moment.
const logLag = 50 * time.Millisecond

func newWorld(t testing.TB, server *mayfly.Server) *World {
	world := &World{World: server.World(), t: t}
	world.Clock = Clock{t, world.World.Clock}
	t.Cleanup(func() {
		world.Close()
		if !t.Failed() {
			return
		}
		time.Sleep(logLag)
		if log := world.Log(); log != "" {
			t.Logf("mayfly logged, of all worlds (this one was %s):\n%s", world.Account(), log)
		}
	})
	return world
}

// check fails the test for an error.
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

// WaitFor returns the record when the item changes as told; if it does not in time, the test fails, and says what did
// happen.
func (world *World) WaitFor(table string, key any, wait mayfly.Wait) mayfly.Record {
	world.t.Helper()
	record, err := world.World.WaitFor(ctx, table, key, wait)
	return must(world.t, record, err)
}

// Explain says why an item is still there, or is not.
func (world *World) Explain(table string, key any) mayfly.Explanation {
	world.t.Helper()
	explanation, err := world.World.Explain(ctx, table, key)
	return must(world.t, explanation, err)
}

// TTL is a table's time to live.
func (world *World) TTL(table string) TTL { return TTL{world.t, world.World.TTL(table)} }

// Snapshot keeps the world as it is.
func (world *World) Snapshot() mayfly.SnapshotID {
	world.t.Helper()
	id, err := world.World.Snapshot(ctx)
	return must(world.t, id, err)
}

// Restore makes the world what it was, clock and all.
func (world *World) Restore(snapshot mayfly.SnapshotID) {
	world.t.Helper()
	check(world.t, world.World.Restore(ctx, snapshot))
}

// DeleteSnapshot forgets one.
func (world *World) DeleteSnapshot(snapshot mayfly.SnapshotID) {
	world.t.Helper()
	check(world.t, world.World.DeleteSnapshot(ctx, snapshot))
}

// Reset leaves nothing but functions.
func (world *World) Reset() {
	world.t.Helper()
	check(world.t, world.World.Reset(ctx))
}

// Faults has the world fail by these rules and no others.
func (world *World) Faults(rules ...mayfly.Fault) {
	world.t.Helper()
	check(world.t, world.World.Faults(ctx, rules...))
}

// ClearFaults has nothing fail.
func (world *World) ClearFaults() {
	world.t.Helper()
	check(world.t, world.World.ClearFaults(ctx))
}

// FaultCounts tells how often each rule was asked and struck.
func (world *World) FaultCounts() []mayfly.FaultCount {
	world.t.Helper()
	counts, err := world.World.FaultCounts(ctx)
	return must(world.t, counts, err)
}

// Failpoint stops the item's expiry between its instant and its deletion, until it is released. An advance waits there, so
// it belongs into a goroutine, by world.World.Clock.
func (world *World) Failpoint(table string, key any) Failpoint {
	world.t.Helper()
	point, err := world.World.Failpoint(ctx, table, key)
	return Failpoint{world.t, must(world.t, point, err)}
}

// Function registers a function of the test, which event source mappings and Lambda's Invoke call.
func (world *World) Function(name string, function mayfly.Function) {
	world.t.Helper()
	check(world.t, world.World.Function(ctx, name, function))
}

// FunctionAt registers the function that an address, http://…, answers for.
func (world *World) FunctionAt(name, address string, timeout time.Duration) {
	world.t.Helper()
	check(world.t, world.World.FunctionAt(ctx, name, address, timeout))
}

// Trigger has the table's stream call a function, and returns the mapping's UUID.
func (world *World) Trigger(table, function string, settings map[string]any) string {
	world.t.Helper()
	id, err := world.World.Trigger(ctx, table, function, settings)
	return must(world.t, id, err)
}

// Control makes any call of the control API, and returns what it answers.
func (world *World) Control(method, path string, body any) json.RawMessage {
	world.t.Helper()
	var answer json.RawMessage
	check(world.t, world.World.Control(ctx, method, path, body, &answer))
	return answer
}

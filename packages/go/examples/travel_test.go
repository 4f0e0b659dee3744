package shop

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestWhatElseAWorldCanDo(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	world.Clock.FreezeAt(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)) // while there are no tables: any year
	carts := NewCarts(t.Context(), world.DynamoDB, world.Clock.Now)
	carts.Put(t.Context(), "1")
	key := map[string]any{"id": "1"} // or a struct, or attribute values

	t.Log(world.Explain("carts", key).Message) // why it is still there, or is not
	snapshot := world.Snapshot()               // tables, items, streams and clock
	world.Clock.AdvanceToNextExpiry()
	world.Restore(snapshot)

	world.TTL("carts").AWS(10*time.Minute, 28*time.Minute, 1) // late, as on AWS; or Manual, and Sweep
	world.Faults(mayfly.Fault{Kind: mayfly.Throttle, Operation: "PutItem", Count: 2})
	world.ClearFaults()

	point := world.Failpoint("carts", key) // stops the expiry, so that a test can write in between
	advanced := make(chan error, 1)
	go func() { // not the test's own goroutine: the methods that return errors
		_, err := world.World.Clock.Advance(t.Context(), 72*time.Hour)
		advanced <- err
	}()
	point.Reached()
	carts.Put(t.Context(), "1")
	point.Release()
	if err := <-advanced; err != nil {
		t.Fatal(err)
	}
	world.Control("GET", "/jobs", nil) // and any other call of the control API
}

package shop

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestTimeTravelFaultsAndFailpoints(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	world.Clock.FreezeAt(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)) // any year, as long as there are no tables
	world.CreateTable(mayfly.Table{Name: "carts", TTL: "ttl"})
	carts := Carts{Client: world.DynamoDB, Now: world.Clock.Now}
	if err := carts.Put(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	key := map[string]any{"id": "1"} // or a struct, or attribute values

	t.Log(world.Explain("carts", key).Message) // why the item still exists, or why it does not
	snapshot := world.Snapshot()               // tables, items, streams and clock
	world.Clock.AdvanceToNextExpiry()
	world.Restore(snapshot)

	world.TTL("carts").AWS(10*time.Minute, 28*time.Minute, 1) // delete late, as AWS does; or call Manual and Sweep
	world.Faults(mayfly.Fault{Kind: mayfly.Throttle, Operation: "PutItem", Count: 2})
	world.ClearFaults()

	point := world.Failpoint("carts", key) // stops the expiry just before the deletion
	advanced := make(chan error, 1)
	go func() { // in other goroutines, use the methods of world.World, which return errors
		_, err := world.World.Clock.Advance(t.Context(), 72*time.Hour)
		advanced <- err
	}()
	point.Reached()
	if err := carts.Put(t.Context(), "1"); err != nil {
		t.Error(err)
	}
	point.Release()
	if err := <-advanced; err != nil {
		t.Fatal(err)
	}
	world.Control("GET", "/jobs", nil) // any other call to the control API
}

package shop

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestACartExpiresAfterTwoDays(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	began := world.Clock.Freeze()
	world.CreateTable(mayfly.Table{Name: "carts", TTL: "ttl"})

	carts := Carts{Client: world.DynamoDB, Now: world.Clock.Now}
	if err := carts.Put(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	advanced := world.Clock.Advance(48*time.Hour + time.Second)

	if advanced.Tables["carts"] != 1 {
		t.Errorf("%d carts have expired", advanced.Tables["carts"])
	}
	record := world.WaitFor("carts", map[string]any{"id": "1"},
		mayfly.Wait{Event: mayfly.Remove, By: mayfly.ByService, Since: began})
	if record.OldImage["id"] == nil {
		t.Error("the record has no old image")
	}
}

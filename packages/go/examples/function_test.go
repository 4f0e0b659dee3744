package shop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestAnExpiredCartSendsAReminder(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	world.Clock.Freeze()
	world.CreateTable(mayfly.Table{Name: "carts", TTL: "ttl"})

	reminded := make(chan mayfly.Record, 10)
	remind := func(_ context.Context, event mayfly.StreamEvent) (any, error) {
		for _, record := range event.Records {
			if record.Event == mayfly.Remove && record.By == mayfly.ByService {
				reminded <- record
			}
		}
		return nil, nil
	}
	world.Function("reminder", mayfly.Handler(remind))
	world.Trigger("carts", "reminder", map[string]any{"MaximumRetryAttempts": 2})

	carts := Carts{Client: world.DynamoDB, Now: world.Clock.Now}
	if err := carts.Put(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	world.Clock.Advance(48*time.Hour+time.Second, mayfly.Settle())
	if len(reminded) != 1 {
		t.Errorf("%d reminders were sent", len(reminded))
	}
}

func TestABatchThatCannotBeProcessedIsGivenUp(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	world.CreateTable(mayfly.Table{Name: "carts"})
	broken := func(context.Context, mayfly.StreamEvent) (any, error) { return nil, errors.New("no stamps") }
	world.Function("reminder", mayfly.Handler(broken), mayfly.MayFail()) // without MayFail, Settle fails the test
	world.Trigger("carts", "reminder", map[string]any{"MaximumRetryAttempts": 2})

	carts := Carts{Client: world.DynamoDB, Now: world.Clock.Now}
	if err := carts.Put(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	settled := world.Settle()
	if len(settled.GivenUp) != 1 || settled.GivenUp[0].Attempts != 3 {
		t.Errorf("given up: %+v", settled.GivenUp)
	}
}

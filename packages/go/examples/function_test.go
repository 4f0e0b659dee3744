package shop

import (
	"context"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestWhoForgetsACartIsReminded(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	world.Clock.Freeze()
	carts := NewCarts(t.Context(), world.DynamoDB, world.Clock.Now)

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

	carts.Put(t.Context(), "1")
	world.Clock.Advance(48*time.Hour+time.Second, mayfly.Settle())
	if len(reminded) != 1 {
		t.Errorf("%d were reminded", len(reminded))
	}
}

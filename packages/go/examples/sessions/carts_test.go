package sessions

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/mayfly-dynamodb/mayfly-go"
)

// remind returns a function that sends a reminder for each session that expired with something in its cart.
func remind(send func(id string)) mayfly.Function {
	return mayfly.Handler(func(_ context.Context, event mayfly.StreamEvent) (any, error) {
		for _, record := range event.Records {
			if record.By != mayfly.ByService {
				continue
			}
			var expired session
			if err := attributevalue.UnmarshalMap(record.OldImage, &expired); err != nil {
				return nil, err
			}
			if len(expired.Cart) > 0 {
				send(expired.ID)
			}
		}
		return nil, nil
	})
}

func TestAnAbandonedCartSendsAReminder(t *testing.T) {
	t.Parallel()
	world, sessions := newSessions(t)
	reminded := make(chan string, 10)
	world.Function("reminder", remind(func(id string) { reminded <- id }))
	world.Trigger("sessions", "reminder", map[string]any{"MaximumRetryAttempts": 2})

	succeeds(t, sessions.Start(t.Context(), "ann", "apples"))
	succeeds(t, sessions.Start(t.Context(), "bob"))
	world.Clock.Advance(31*time.Minute, mayfly.Settle())
	if len(reminded) != 1 || <-reminded != "ann" {
		t.Error("the reminder was not sent to ann alone")
	}
}

func TestAUserWhoLogsOutGetsNoReminder(t *testing.T) {
	t.Parallel()
	world, sessions := newSessions(t)
	reminded := make(chan string, 10)
	world.Function("reminder", remind(func(id string) { reminded <- id }))
	world.Trigger("sessions", "reminder", map[string]any{"MaximumRetryAttempts": 2})

	succeeds(t, sessions.Start(t.Context(), "ann", "apples"))
	succeeds(t, sessions.End(t.Context(), "ann"))
	world.Clock.Advance(31*time.Minute, mayfly.Settle())
	if len(reminded) != 0 {
		t.Errorf("%s got a reminder", <-reminded)
	}
}

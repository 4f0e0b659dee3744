package sessions

import (
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func TestASessionEndsAfter30Minutes(t *testing.T) {
	t.Parallel()
	world, sessions := newSessions(t)
	succeeds(t, sessions.Start(t.Context(), "ann"))

	world.Clock.Advance(29 * time.Minute)
	if !isOpen(t, sessions, "ann") {
		t.Error("the session ended early")
	}
	if advanced := world.Clock.Advance(2 * time.Minute); advanced.Tables["sessions"] != 1 {
		t.Errorf("%d sessions expired", advanced.Tables["sessions"])
	}
	if isOpen(t, sessions, "ann") {
		t.Error("the session is still open")
	}
}

func TestTheServiceRemovesTheSession(t *testing.T) {
	t.Parallel()
	world, sessions := newSessions(t)
	began := world.Clock.Now()
	succeeds(t, sessions.Start(t.Context(), "ann"))
	world.Clock.Advance(31 * time.Minute)

	record := world.WaitFor("sessions", map[string]any{"id": "ann"},
		mayfly.Wait{Event: mayfly.Remove, By: mayfly.ByService, Since: began})
	if record.OldImage["id"] == nil {
		t.Error("the record has no old image")
	}
}

func TestASessionEndsEvenIfItIsNotDeletedYet(t *testing.T) {
	t.Parallel()
	world, sessions := newSessions(t)
	world.TTL("sessions").AWS(10*time.Minute, 28*time.Minute, 1)
	succeeds(t, sessions.Start(t.Context(), "ann"))
	world.Clock.Advance(31 * time.Minute)

	if reason := world.Explain("sessions", map[string]any{"id": "ann"}).Reason; reason != "delayed" {
		t.Errorf("the item is %s", reason)
	}
	if isOpen(t, sessions, "ann") {
		t.Error("the session is still open")
	}
}

package sessions

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestASessionThatIsUsedStaysOpen(t *testing.T) {
	t.Parallel()
	world, sessions := newSessions(t)
	succeeds(t, sessions.Start(t.Context(), "ann"))
	for range 3 {
		world.Clock.Advance(20 * time.Minute)
		succeeds(t, sessions.Renew(t.Context(), "ann"))
	}

	world.Clock.Advance(29 * time.Minute)
	if !isOpen(t, sessions, "ann") {
		t.Error("the session ended early")
	}
	if advanced := world.Clock.Advance(2 * time.Minute); advanced.Tables["sessions"] != 1 {
		t.Errorf("%d sessions expired", advanced.Tables["sessions"])
	}
}

func TestASessionThatHasEndedCannotBeRenewed(t *testing.T) {
	t.Parallel()
	world, sessions := newSessions(t)
	succeeds(t, sessions.Start(t.Context(), "ann"))
	world.Clock.Advance(31 * time.Minute)

	var failed *types.ConditionalCheckFailedException
	if err := sessions.Renew(t.Context(), "ann"); !errors.As(err, &failed) {
		t.Errorf("Renew returned %v", err)
	}
}

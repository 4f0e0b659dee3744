package sessions

import (
	"testing"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

// newSessions returns a world with the sessions' table, and a program that uses the world's clock.
func newSessions(t *testing.T) (*mayflytest.World, Sessions) {
	t.Helper()
	world := mayflytest.Start(t)
	world.Clock.Freeze()
	world.CreateTable(mayfly.Table{Name: "sessions", TTL: "expires"})
	return world, Sessions{Client: world.DynamoDB, Now: world.Clock.Now}
}

func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func isOpen(t *testing.T, sessions Sessions, id string) bool {
	t.Helper()
	open, err := sessions.IsOpen(t.Context(), id)
	succeeds(t, err)
	return open
}

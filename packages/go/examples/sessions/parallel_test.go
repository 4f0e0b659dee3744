package sessions

import (
	"strconv"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestEachTestHasItsOwnTablesAndClock(t *testing.T) {
	t.Parallel()
	for year := 2031; year < 2039; year++ {
		t.Run(strconv.Itoa(year), func(t *testing.T) {
			t.Parallel()
			world := mayflytest.Start(t)
			world.Clock.FreezeAt(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
			world.CreateTable(mayfly.Table{Name: "sessions", TTL: "expires"})

			world.Clock.Advance(24 * time.Hour)
			if now := world.Clock.Now(); now.Year() != year {
				t.Errorf("it is %v", now)
			}
		})
	}
}

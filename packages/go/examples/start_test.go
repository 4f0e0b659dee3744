package shop

import (
	"context"
	"fmt"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func Example() {
	ctx := context.Background()
	server, err := mayfly.Start(ctx, mayfly.Options{})
	if err != nil {
		panic(err) // the message says what to do
	}
	defer server.Close()

	world := server.World()
	defer world.Close()
	if err := world.Clock.FreezeAt(ctx, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		panic(err)
	}
	advanced, err := world.Clock.Advance(ctx, time.Hour)
	if err != nil {
		panic(err)
	}
	fmt.Println(advanced.Now)
	// Output: 2031-01-01 01:00:00 +0000 UTC
}

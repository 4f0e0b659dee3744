package mayfly_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func TestControlCanMakeAnyCallToTheControlAPIForItsWorld(t *testing.T) {
	world := cartsWorld(t)
	var index struct{ Account, Region string }
	noError(t, world.World.Control(ctx, "GET", "/", nil, &index))
	equal(t, index.Account, world.Account())
	equal(t, index.Region, "us-east-1")
	shards := world.Control("POST", "/streams/carts/split", map[string]any{})
	equal(t, strings.Count(string(shards), `"open":true`), 2)
}

func TestAControlErrorHasATypeAMessageAndAStatus(t *testing.T) {
	world := cartsWorld(t)
	err := world.World.Control(ctx, "PUT", "/ttl/cards", map[string]any{"mode": "exact"}, nil)
	var refused *mayfly.Error
	if !errors.As(err, &refused) {
		t.Fatalf("the error is %v", err)
	}
	equal(t, refused.Status, 404)
	equal(t, refused.Type, "NotFound")
	if !strings.Contains(err.Error(), refused.Message) || refused.Message == "" {
		t.Errorf("the error is %v", err)
	}
	err = world.World.Control(ctx, "PUT", "/clock", map[string]any{"mood": "frozen"}, nil)
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, "mood") {
		t.Errorf("an unknown member returned %v", err)
	}
}

package mayfly_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func TestTTLStatusCountsPendingItems(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	status := world.TTL("carts").Status()
	equal(t, status.Status+" "+status.Attribute+" "+string(status.Mode), "ENABLED ttl exact")
	equal(t, status.Pending, 1)
	equal(t, *status.NextDue, new2031.Add(time.Hour+time.Millisecond))

	upcoming := world.TTL("carts").Upcoming(10)
	equal(t, len(upcoming), 1)
	equal(t, *upcoming[0].ExpiresAt, new2031.Add(time.Hour+time.Millisecond))
}

func TestInManualModeOnlyASweepDeletesItems(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	world.TTL("carts").Manual()
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	world.Clock.Advance(2 * time.Hour)
	equal(t, hasCart(t, world.DynamoDB, "1"), true)
	equal(t, world.TTL("carts").Upcoming(10)[0].ExpiresAt, nil)
	equal(t, world.TTL("carts").Sweep(), 1)
	equal(t, hasCart(t, world.DynamoDB, "1"), false)
}

func TestInAWSModeItemsAreDeletedLate(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	world.TTL("carts").AWS(10*time.Minute, 20*time.Minute, 7)
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	world.Clock.Advance(time.Hour + time.Second)
	equal(t, hasCart(t, world.DynamoDB, "1"), true)
	equal(t, world.Explain("carts", key("1")).Reason, "delayed")
	world.Clock.Advance(20 * time.Minute)
	equal(t, hasCart(t, world.DynamoDB, "1"), false)
	world.TTL("carts").Exact()
	equal(t, world.TTL("carts").Status().Mode, mayfly.TTLExact)
}

func TestExplainSaysWhyAnItemStillExistsOrWhyItDoesNot(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	due := new2031.Add(time.Hour + time.Millisecond)

	explanation := world.TTL("carts").Explain(struct {
		ID string `dynamodbav:"id"`
	}{"1"})
	equal(t, explanation.Reason, "not_due")
	equal(t, *explanation.ExpiresAt, due)
	if !strings.Contains(explanation.Message, number(new2031.Add(time.Hour))) {
		t.Errorf("the message is %s", explanation.Message)
	}
	world.Clock.Advance(2 * time.Hour)
	equal(t, world.Explain("carts", key("1")).Reason, "expired")

	// A program that takes the time from its own clock writes an item whose TTL has already passed.
	putCart(t, world.DynamoDB, "2", time.Now().Add(time.Hour))
	equal(t, world.Explain("carts", key("2")).Reason, "born_expired")
	equal(t, world.TTL("carts").Status().BornExpired, 1)
}

package mayfly_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func TestWaitForReturnsTheRecordOfAnExpiredItem(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	world.Clock.Advance(2 * time.Hour)
	record := world.WaitFor("carts", key("1"), mayfly.Wait{Event: mayfly.Remove, By: mayfly.ByService, Since: new2031})
	equal(t, record.Event, mayfly.Remove)
	equal(t, record.By, mayfly.ByService)

	var cart struct {
		ID  string `dynamodbav:"id"`
		TTL int64  `dynamodbav:"ttl"`
	}
	noError(t, attributevalue.UnmarshalMap(record.OldImage, &cart))
	equal(t, cart.ID, "1")
	equal(t, cart.TTL, new2031.Unix()+3600)
	equal(t, len(record.NewImage), 0)
	equal(t, strings.Contains(string(record.Raw), `"dynamodb.amazonaws.com"`), true)
}

func TestWaitForReturnsWhenAnotherGoroutineChangesTheItem(t *testing.T) {
	world := cartsWorld(t)
	changed := make(chan error, 1)
	go func() {
		id := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
		_, err := world.World.WaitFor(ctx, "carts", id, mayfly.Wait{By: mayfly.ByUser})
		changed <- err
	}()
	// Write until WaitFor has started. Each TTL is different, because putting an equal item is not a change.
	for i := 0; ; i++ {
		putCart(t, world.DynamoDB, "1", new2031.Add(time.Duration(i)*time.Second))
		select {
		case err := <-changed:
			noError(t, err)
			return
		default:
		}
	}
}

func TestAWaitThatTimesOutListsTheItemsOtherChanges(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	_, err := world.World.WaitFor(ctx, "carts", key("1"),
		mayfly.Wait{Event: mayfly.Remove, Since: new2031, Timeout: time.Millisecond})
	var late *mayfly.WaitError
	if !errors.As(err, &late) {
		t.Fatalf("the error is %v", err)
	}
	equal(t, err.Error(), "mayfly: "+late.Err.Message+" Other changes to the item: INSERT by user")
	equal(t, late.Happened[0].Event, mayfly.Insert)
	var refused *mayfly.Error
	equal(t, errors.As(err, &refused), true)
	equal(t, refused.Type, "TimedOut")
	equal(t, refused.Status, 408)
}

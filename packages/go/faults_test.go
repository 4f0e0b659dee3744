package mayfly_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func TestAFaultWithACountMakesThatManyOperationsFailAndCountsThem(t *testing.T) {
	world := cartsWorld(t)
	once := dynamodb.NewFromConfig(world.Config(), func(options *dynamodb.Options) { options.RetryMaxAttempts = 1 })
	world.Faults(mayfly.Fault{Kind: mayfly.Throttle, Operation: "GetItem", Table: "carts", Count: 1})
	get := &dynamodb.GetItemInput{TableName: aws.String("carts"),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}}

	var throttled *types.ProvisionedThroughputExceededException
	if _, err := once.GetItem(ctx, get); !errors.As(err, &throttled) {
		t.Fatalf("the first read returned %v", err)
	}
	_, err := once.GetItem(ctx, get)
	noError(t, err)
	counts := world.FaultCounts()
	equal(t, len(counts), 1)
	equal(t, counts[0].Kind, mayfly.Throttle)
	equal(t, counts[0].Struck, 1)

	world.ClearFaults()
	equal(t, len(world.FaultCounts()), 0)
}

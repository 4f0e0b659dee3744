package mayfly_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

var ctx = context.Background()

var new2031 = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)

// cartsWorld returns a world with the table carts, which has the key id, the TTL attribute ttl and a stream.
func cartsWorld(t *testing.T) *mayflytest.World {
	t.Helper()
	t.Parallel()
	world := mayflytest.Start(t)
	world.CreateTable(carts)
	return world
}

var carts = mayfly.Table{Name: "carts", TTL: "ttl"}

func putCart(t *testing.T, client *dynamodb.Client, id string, ttl time.Time) {
	t.Helper()
	item, err := attributevalue.MarshalMap(map[string]any{"id": id, "ttl": ttl.Unix()})
	noError(t, err)
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("carts"), Item: item})
	noError(t, err)
}

func hasCart(t *testing.T, client *dynamodb.Client, id string) bool {
	t.Helper()
	got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("carts"),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}})
	noError(t, err)
	return got.Item != nil
}

func key(id string) map[string]any { return map[string]any{"id": id} }

func number(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Fatalf("got %v, wanted %v", got, wanted)
	}
}

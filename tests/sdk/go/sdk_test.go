// Tests typical uses of DynamoDB with the AWS SDK for Go v2.
package sdk

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

type Cart struct {
	ID       string   `dynamodbav:"id"`
	Customer string   `dynamodbav:"customer"`
	Price    float64  `dynamodbav:"price"`
	Products []string `dynamodbav:"products,stringset,omitempty"`
	TTL      int64    `dynamodbav:"ttl,omitempty"`
}

// Creates the table carts with an index by customer and price. TTL and a stream are enabled.
func createCarts(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   aws.String("carts"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("customer"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("price"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by_customer"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("customer"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("price"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled:  aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
	must(t, err)
	exists := dynamodb.NewTableExistsWaiter(client, func(options *dynamodb.TableExistsWaiterOptions) {
		options.MinDelay = 100 * time.Millisecond
	})
	must(t, exists.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("carts")}, 10*time.Second))
	_, err = client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String("carts"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			Enabled:       aws.Bool(true),
			AttributeName: aws.String("ttl"),
		},
	})
	must(t, err)
}

func TestAnItemIsPutReadConditionallyUpdatedAndDeleted(t *testing.T) {
	client := startMayfly(t).dynamodb()
	createCarts(t, client)
	cart := Cart{ID: "1", Customer: "nina", Price: 19.65, Products: []string{"piano", "stool"}}
	put(t, client, cart)
	equal(t, read(t, client, "1"), &cart)

	update := dynamodb.UpdateItemInput{
		TableName:           aws.String("carts"),
		Key:                 key("1"),
		UpdateExpression:    aws.String("ADD price :more, products :product"),
		ConditionExpression: aws.String("price < :limit"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":more":    &types.AttributeValueMemberN{Value: "80.35"},
			":product": &types.AttributeValueMemberSS{Value: []string{"metronome"}},
			":limit":   &types.AttributeValueMemberN{Value: "100"},
		},
		ReturnValues:                        types.ReturnValueUpdatedNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	updated, err := client.UpdateItem(t.Context(), &update)
	must(t, err)
	equal(t, updated.Attributes["price"], types.AttributeValue(&types.AttributeValueMemberN{Value: "100"}))

	_, err = client.UpdateItem(t.Context(), &update)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("not a failed condition: %v", err)
	}
	equal(t, failed.ErrorMessage(), "The conditional request failed")
	equal(t, failed.Item["id"], types.AttributeValue(&types.AttributeValueMemberS{Value: "1"}))

	_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("carts"), Key: key("1")})
	must(t, err)
	equal(t, read(t, client, "1"), nil)
}

func TestAnIndexIsQueriedPageByPage(t *testing.T) {
	client := startMayfly(t).dynamodb()
	createCarts(t, client)
	var writes []types.WriteRequest
	for number := range 20 {
		item, err := attributevalue.MarshalMap(Cart{ID: fmt.Sprint(number), Customer: "nina", Price: float64(-number)})
		must(t, err)
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	written, err := client.BatchWriteItem(t.Context(),
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"carts": writes}})
	must(t, err)
	equal(t, len(written.UnprocessedItems), 0)

	pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName:              aws.String("carts"),
		IndexName:              aws.String("by_customer"),
		KeyConditionExpression: aws.String("customer = :customer AND price BETWEEN :least AND :most"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":customer": &types.AttributeValueMemberS{Value: "nina"},
			":least":    &types.AttributeValueMemberN{Value: "-9"},
			":most":     &types.AttributeValueMemberN{Value: "-5"},
		},
		Limit: aws.Int32(2),
	})
	var ids []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		must(t, err)
		var carts []Cart
		must(t, attributevalue.UnmarshalListOfMaps(page.Items, &carts))
		for _, cart := range carts {
			ids = append(ids, cart.ID)
		}
	}
	equal(t, ids, []string{"9", "8", "7", "6", "5"})
}

func TestATransactionIsAppliedCompletelyOrCanceledWithReasons(t *testing.T) {
	client := startMayfly(t).dynamodb()
	createCarts(t, client)
	put(t, client, Cart{ID: "full", Customer: "nina", Price: 10})
	put(t, client, Cart{ID: "empty", Customer: "nina"})

	// Moves ten from the price of one cart to the price of another if the first price is at least ten.
	move := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Update: &types.Update{
			TableName:           aws.String("carts"),
			Key:                 key("full"),
			UpdateExpression:    aws.String("SET price = price - :ten"),
			ConditionExpression: aws.String("price >= :ten"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":ten": &types.AttributeValueMemberN{Value: "10"},
			},
		}},
		{Update: &types.Update{
			TableName:        aws.String("carts"),
			Key:              key("empty"),
			UpdateExpression: aws.String("SET price = price + :ten"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":ten": &types.AttributeValueMemberN{Value: "10"},
			},
		}},
	}}
	_, err := client.TransactWriteItems(t.Context(), move)
	must(t, err)
	// The SDK has stored a token in `move`, so the server does not apply the same transaction again.
	_, err = client.TransactWriteItems(t.Context(), move)
	must(t, err)
	move.ClientRequestToken = nil
	_, err = client.TransactWriteItems(t.Context(), move)
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatalf("not a canceled transaction: %v", err)
	}
	var codes []string
	for _, reason := range canceled.CancellationReasons {
		codes = append(codes, aws.ToString(reason.Code))
	}
	equal(t, codes, []string{"ConditionalCheckFailed", "None"})

	both, err := client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: aws.String("carts"), Key: key("full")}},
			{Get: &types.Get{TableName: aws.String("carts"), Key: key("empty")}},
		},
	})
	must(t, err)
	var prices []float64
	for _, response := range both.Responses {
		var cart Cart
		must(t, attributevalue.UnmarshalMap(response.Item, &cart))
		prices = append(prices, cart.Price)
	}
	equal(t, prices, []float64{0, 10})
}

func TestAnExpiryRemovesTheItemAndItsIndexEntryAndTheRecordNamesTheService(t *testing.T) {
	server := startMayfly(t)
	client := server.dynamodb()
	createCarts(t, client)
	ttl := time.Now().Unix() + 3600
	put(t, client, Cart{ID: "goes", Customer: "nina", TTL: ttl})
	put(t, client, Cart{ID: "stays", Customer: "nina", TTL: ttl + 24*3600})
	put(t, client, Cart{ID: "ordered", Customer: "nina", TTL: ttl})
	_, err := client.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("carts"), Key: key("ordered")})
	must(t, err)

	equal(t, server.advance(t, 2*time.Hour), 1)
	records := readStream(t, server.streams(), "carts")
	var events []string
	for _, record := range records {
		id := record.Dynamodb.Keys["id"].(*streamtypes.AttributeValueMemberS).Value
		events = append(events, fmt.Sprint(record.EventName, " ", id))
	}
	equal(t, events, []string{"INSERT goes", "INSERT stays", "INSERT ordered", "REMOVE ordered", "REMOVE goes"})
	equal(t, records[3].UserIdentity, nil)
	equal(t, aws.ToString(records[4].UserIdentity.Type), "Service")
	equal(t, aws.ToString(records[4].UserIdentity.PrincipalId), "dynamodb.amazonaws.com")
	equal(t, records[4].Dynamodb.ApproximateCreationDateTime.Unix(), ttl) // during the advance, not at its end
	equal(t, records[4].Dynamodb.OldImage["ttl"],
		streamtypes.AttributeValue(&streamtypes.AttributeValueMemberN{Value: fmt.Sprint(ttl)}))

	for _, index := range []*string{nil, aws.String("by_customer")} {
		left, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("carts"), IndexName: index})
		must(t, err)
		equal(t, len(left.Items), 1)
		equal(t, left.Items[0]["id"], types.AttributeValue(&types.AttributeValueMemberS{Value: "stays"}))
	}
}

// Reads a table's stream from its beginning.
func readStream(t *testing.T, client *dynamodbstreams.Client, table string) []streamtypes.Record {
	t.Helper()
	streams, err := client.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{TableName: aws.String(table)})
	must(t, err)
	arn := streams.Streams[0].StreamArn
	stream, err := client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	must(t, err)
	first, err := client.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn:         arn,
		ShardId:           stream.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	must(t, err)
	answer, err := client.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: first.ShardIterator})
	must(t, err)
	return answer.Records
}

func key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
}

func put(t *testing.T, client *dynamodb.Client, cart Cart) {
	t.Helper()
	item, err := attributevalue.MarshalMap(cart)
	must(t, err)
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("carts"), Item: item})
	must(t, err)
}

// Returns the cart, or nil if it does not exist.
func read(t *testing.T, client *dynamodb.Client, id string) *Cart {
	t.Helper()
	answer, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("carts"), Key: key(id)})
	must(t, err)
	if answer.Item == nil {
		return nil
	}
	var cart Cart
	must(t, attributevalue.UnmarshalMap(answer.Item, &cart))
	return &cart
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, actual, expected T) {
	t.Helper()
	if !reflect.DeepEqual(actual, expected) {
		t.Fatalf("%v, not %v", actual, expected)
	}
}

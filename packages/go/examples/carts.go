package shop

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Carts is a program that takes its client and its clock.
type Carts struct {
	client *dynamodb.Client
	now    func() time.Time
}

func NewCarts(ctx context.Context, client *dynamodb.Client, now func() time.Time) *Carts {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String("carts"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		panic(err)
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: aws.String("carts"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: aws.String("ttl")}})
	if err != nil {
		panic(err)
	}
	return &Carts{client, now}
}

func (carts *Carts) Put(ctx context.Context, id string) {
	item, err := attributevalue.MarshalMap(map[string]any{"id": id, "ttl": carts.now().Add(48 * time.Hour).Unix()})
	if err == nil {
		_, err = carts.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("carts"), Item: item})
	}
	if err != nil {
		panic(err)
	}
}

package shop

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Carts stores shopping carts that expire after two days. It gets its client and its clock from the caller.
type Carts struct {
	Client *dynamodb.Client
	Now    func() time.Time
}

func (carts Carts) Put(ctx context.Context, id string) error {
	item, err := attributevalue.MarshalMap(map[string]any{"id": id, "ttl": carts.Now().Add(48 * time.Hour).Unix()})
	if err != nil {
		return err
	}
	_, err = carts.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("carts"), Item: item})
	return err
}

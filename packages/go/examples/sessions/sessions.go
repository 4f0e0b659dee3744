package sessions

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const lifetime = 30 * time.Minute

// Sessions end 30 minutes after their last use. The client and the clock come from the caller.
type Sessions struct {
	Client *dynamodb.Client
	Now    func() time.Time
}

type session struct {
	ID      string   `dynamodbav:"id"`
	Cart    []string `dynamodbav:"cart"`
	Expires int64    `dynamodbav:"expires"`
}

// Start begins a session with these things in its cart.
func (sessions Sessions) Start(ctx context.Context, id string, cart ...string) error {
	item, err := attributevalue.MarshalMap(session{ID: id, Cart: cart, Expires: sessions.Now().Add(lifetime).Unix()})
	if err != nil {
		return err
	}
	_, err = sessions.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("sessions"), Item: item})
	return err
}

// Renew extends a session that has not ended.
func (sessions Sessions) Renew(ctx context.Context, id string) error {
	now := sessions.Now()
	_, err := sessions.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String("sessions"),
		Key:                 key(id),
		UpdateExpression:    aws.String("SET expires = :expires"),
		ConditionExpression: aws.String("expires > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":expires": seconds(now.Add(lifetime)),
			":now":     seconds(now),
		},
	})
	return err
}

// End deletes a session.
func (sessions Sessions) End(ctx context.Context, id string) error {
	_, err := sessions.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("sessions"), Key: key(id)})
	return err
}

// IsOpen reports whether a session exists and has not ended.
func (sessions Sessions) IsOpen(ctx context.Context, id string) (bool, error) {
	found, err := sessions.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("sessions"), Key: key(id)})
	if err != nil || len(found.Item) == 0 {
		return false, err
	}
	var item session
	err = attributevalue.UnmarshalMap(found.Item, &item)
	return item.Expires > sessions.Now().Unix(), err
}

func key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
}

func seconds(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.Unix(), 10)}
}

package mayfly

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is what attributevalue.UnmarshalMap takes. In JSON it is DynamoDB's: {"id":{"S":"1"}}.
type Item map[string]types.AttributeValue

// UnmarshalJSON reads DynamoDB's JSON.
func (item *Item) UnmarshalJSON(text []byte) error {
	read, err := attributevalue.UnmarshalMapJSON(text)
	*item = read
	return err
}

// MarshalJSON writes DynamoDB's JSON.
func (item Item) MarshalJSON() ([]byte, error) { return attributevalue.MarshalMapJSON(item) }

// keyOf takes a key as tests have it: map[string]any{"id": "1"}, a struct as attributevalue.MarshalMap takes it, or
// attribute values.
func keyOf(key any) (Item, error) {
	switch key := key.(type) {
	case Item:
		return key, nil
	case map[string]types.AttributeValue:
		return key, nil
	case json.RawMessage:
		var item Item
		err := item.UnmarshalJSON(key)
		return item, err
	}
	item, err := attributevalue.MarshalMap(key)
	if err != nil {
		return nil, fmt.Errorf("mayfly: the key %v cannot be written: %w", key, err)
	}
	return item, nil
}

package mayfly

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item or a key, in the form that attributevalue.UnmarshalMap accepts. Its JSON is DynamoDB JSON:
// {"id":{"S":"1"}}.
type Item map[string]types.AttributeValue

// UnmarshalJSON reads DynamoDB JSON.
func (item *Item) UnmarshalJSON(text []byte) error {
	read, err := attributevalue.UnmarshalMapJSON(text)
	*item = read
	return err
}

// MarshalJSON writes DynamoDB JSON.
func (item Item) MarshalJSON() ([]byte, error) { return attributevalue.MarshalMapJSON(item) }

// keyOf converts a key to an Item. The key is map[string]any{"id": "1"}, a struct that attributevalue.MarshalMap
// accepts, attribute values, or DynamoDB JSON as a json.RawMessage.
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
		return nil, fmt.Errorf("mayfly: cannot encode the key %v: %w", key, err)
	}
	return item, nil
}

package mayfly

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table describes a table for CreateTable. Name is required. In every other field, the zero value selects the default:
//
//	mayfly.Table{Name: "carts", TTL: "ttl"}
//	mayfly.Table{Name: "orders", Key: mayfly.S("customer"), Sort: mayfly.N("at"), Stream: mayfly.StreamOff,
//		Indexes: []mayfly.Index{{Name: "by_state", Key: mayfly.S("state"), Sort: mayfly.N("at")}}}
type Table struct {
	Name    string
	Key     KeyAttribute // partition key; default: S("id")
	Sort    KeyAttribute // sort key; default: none
	TTL     string       // attribute that holds the TTL, in epoch seconds; default: no TTL
	Stream  StreamView   // default: StreamNewAndOldImages
	Indexes []Index
	More    func(*dynamodb.CreateTableInput) // changes the request before it is sent; may be nil
}

// KeyAttribute is an attribute of a key. S, N and B create one.
type KeyAttribute struct {
	name string
	kind types.ScalarAttributeType
}

// S returns a key attribute that holds a string.
func S(name string) KeyAttribute { return KeyAttribute{name, types.ScalarAttributeTypeS} }

// N returns a key attribute that holds a number.
func N(name string) KeyAttribute { return KeyAttribute{name, types.ScalarAttributeTypeN} }

// B returns a key attribute that holds bytes.
func B(name string) KeyAttribute { return KeyAttribute{name, types.ScalarAttributeTypeB} }

// StreamView says what a table's stream records contain. The zero value is StreamNewAndOldImages.
type StreamView string

const (
	StreamNewAndOldImages StreamView = "NEW_AND_OLD_IMAGES"
	StreamNewImage        StreamView = "NEW_IMAGE"
	StreamOldImage        StreamView = "OLD_IMAGE"
	StreamKeysOnly        StreamView = "KEYS_ONLY"
	StreamOff             StreamView = "OFF" // no stream
)

// Index is a secondary index. A global index needs Key, its partition key. A local index has the table's partition key and
// needs Sort.
type Index struct {
	Name       string
	Key        KeyAttribute // partition key of a global index
	Sort       KeyAttribute // sort key; optional in a global index
	Projection Projection   // default: all attributes
	Local      bool
}

// Projection says which attributes an index contains. The zero value means all attributes.
type Projection struct {
	kind       types.ProjectionType
	attributes []string
}

// KeysOnly returns a projection of the keys of the table and the index.
func KeysOnly() Projection { return Projection{kind: types.ProjectionTypeKeysOnly} }

// Include returns a projection of the keys and these attributes.
func Include(attributes ...string) Projection {
	return Projection{kind: types.ProjectionTypeInclude, attributes: attributes}
}

// CreateTable creates the table, enables its TTL, and returns the table's description. Capacity is on demand. If `table` is
// invalid, CreateTable returns an error and sends no request.
func (world *World) CreateTable(ctx context.Context, table Table) (*types.TableDescription, error) {
	input, err := table.input()
	if err != nil {
		return nil, fmt.Errorf("mayfly: cannot create the table %q: %w", table.Name, err)
	}
	created, err := world.DynamoDB.CreateTable(ctx, input)
	if err != nil {
		return nil, plain(err, "mayfly: cannot create the table %q: %w", table.Name, err)
	}
	if table.TTL != "" {
		_, err = world.DynamoDB.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: input.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: &table.TTL}})
		if err != nil {
			return nil, plain(err, "mayfly: the table %q is created, but its TTL is not enabled: %w", table.Name, err)
		}
	}
	return created.TableDescription, nil
}

// plain wraps an error in a formatted message. It returns an *EndedError unchanged, because the message of that error is
// complete.
func plain(err error, format string, values ...any) error {
	var ended *EndedError
	if errors.As(err, &ended) {
		return ended
	}
	return fmt.Errorf(format, values...)
}

func (table Table) input() (*dynamodb.CreateTableInput, error) {
	if table.Name == "" {
		return nil, errors.New("Table.Name is required")
	}
	if table.Key == (KeyAttribute{}) {
		table.Key = S("id")
	}
	var attributes keyAttributes
	keys, err := attributes.keys(table.Key, table.Sort)
	if err != nil {
		return nil, err
	}
	input := &dynamodb.CreateTableInput{TableName: &table.Name, KeySchema: keys,
		BillingMode: types.BillingModePayPerRequest}
	for _, index := range table.Indexes {
		if err := index.addTo(input, table.Key, &attributes); err != nil {
			return nil, err
		}
	}
	input.AttributeDefinitions = attributes.definitions
	switch table.Stream {
	case StreamOff:
	case "":
		table.Stream = StreamNewAndOldImages
		fallthrough
	default:
		input.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true),
			StreamViewType: types.StreamViewType(table.Stream)}
	}
	if table.More != nil {
		table.More(input)
	}
	return input, nil
}

func (index Index) addTo(input *dynamodb.CreateTableInput, partition KeyAttribute, attributes *keyAttributes) error {
	if index.Name == "" {
		return errors.New("Index.Name is required")
	}
	if index.Local {
		if index.Key != (KeyAttribute{}) && index.Key != partition {
			return fmt.Errorf("the local index %q must have the table's partition key: leave Key out", index.Name)
		}
		if index.Sort == (KeyAttribute{}) {
			return fmt.Errorf("the local index %q needs Sort", index.Name)
		}
		index.Key = partition
	} else if index.Key == (KeyAttribute{}) {
		return fmt.Errorf("the global index %q needs Key", index.Name)
	}
	keys, err := attributes.keys(index.Key, index.Sort)
	if err != nil {
		return err
	}
	projection := &types.Projection{ProjectionType: index.Projection.kind, NonKeyAttributes: index.Projection.attributes}
	if projection.ProjectionType == "" {
		projection.ProjectionType = types.ProjectionTypeAll
	}
	if index.Local {
		input.LocalSecondaryIndexes = append(input.LocalSecondaryIndexes,
			types.LocalSecondaryIndex{IndexName: &index.Name, KeySchema: keys, Projection: projection})
	} else {
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndex{IndexName: &index.Name, KeySchema: keys, Projection: projection})
	}
	return nil
}

// keyAttributes are the distinct attributes of the keys of a table and its indexes.
type keyAttributes struct{ definitions []types.AttributeDefinition }

func (attributes *keyAttributes) keys(partition, sort KeyAttribute) ([]types.KeySchemaElement, error) {
	keys := []types.KeySchemaElement{{AttributeName: &partition.name, KeyType: types.KeyTypeHash}}
	if err := attributes.add(partition); err != nil {
		return nil, err
	}
	if sort == (KeyAttribute{}) {
		return keys, nil
	}
	keys = append(keys, types.KeySchemaElement{AttributeName: &sort.name, KeyType: types.KeyTypeRange})
	return keys, attributes.add(sort)
}

func (attributes *keyAttributes) add(key KeyAttribute) error {
	for _, known := range attributes.definitions {
		if *known.AttributeName != key.name {
			continue
		}
		if known.AttributeType != key.kind {
			return fmt.Errorf("the attribute %q is used with two types, %s and %s: use one", key.name,
				known.AttributeType, key.kind)
		}
		return nil
	}
	attributes.definitions = append(attributes.definitions,
		types.AttributeDefinition{AttributeName: &key.name, AttributeType: key.kind})
	return nil
}

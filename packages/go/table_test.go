package mayfly_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestATableHasAStringKeyNamedIDAndAStreamByDefault(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	table := world.CreateTable(mayfly.Table{Name: "carts"})
	equal(t, *table.TableName, "carts")
	equal(t, len(table.KeySchema), 1)
	equal(t, *table.KeySchema[0].AttributeName, "id")
	equal(t, table.AttributeDefinitions[0].AttributeType, types.ScalarAttributeTypeS)
	equal(t, table.StreamSpecification.StreamViewType, types.StreamViewTypeNewAndOldImages)
	equal(t, table.BillingModeSummary.BillingMode, types.BillingModePayPerRequest)
	equal(t, world.TTL("carts").Status().Status, "DISABLED")
}

func TestATableHasTheRequestedKeysIndexesAndSettings(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	table := world.CreateTable(mayfly.Table{
		Name: "orders", Key: mayfly.S("customer"), Sort: mayfly.N("at"), TTL: "expires", Stream: mayfly.StreamKeysOnly,
		Indexes: []mayfly.Index{
			{Name: "by_state", Key: mayfly.S("state"), Sort: mayfly.N("at"), Projection: mayfly.Include("total")},
			{Name: "by_parcel", Key: mayfly.B("parcel"), Projection: mayfly.KeysOnly()},
			{Name: "by_total", Sort: mayfly.N("total"), Local: true},
		},
		More: func(input *dynamodb.CreateTableInput) { input.DeletionProtectionEnabled = aws.Bool(true) },
	})
	equal(t, *table.KeySchema[0].AttributeName+" "+*table.KeySchema[1].AttributeName, "customer at")
	equal(t, len(table.AttributeDefinitions), 5)
	equal(t, table.StreamSpecification.StreamViewType, types.StreamViewTypeKeysOnly)
	equal(t, *table.DeletionProtectionEnabled, true)
	indexes := map[string]types.GlobalSecondaryIndexDescription{}
	for _, index := range table.GlobalSecondaryIndexes {
		indexes[*index.IndexName] = index
	}
	equal(t, len(indexes), 2)
	equal(t, *indexes["by_state"].KeySchema[0].AttributeName+" "+*indexes["by_state"].KeySchema[1].AttributeName, "state at")
	equal(t, indexes["by_state"].Projection.NonKeyAttributes[0], "total")
	equal(t, len(indexes["by_parcel"].KeySchema), 1)
	equal(t, indexes["by_parcel"].Projection.ProjectionType, types.ProjectionTypeKeysOnly)
	local := table.LocalSecondaryIndexes[0]
	equal(t, *local.KeySchema[0].AttributeName+" "+*local.KeySchema[1].AttributeName, "customer total")
	equal(t, local.Projection.ProjectionType, types.ProjectionTypeAll)
	equal(t, world.TTL("orders").Status().Attribute, "expires")
}

func TestATableCanHaveNoStream(t *testing.T) {
	t.Parallel()
	table := mayflytest.Start(t).CreateTable(mayfly.Table{Name: "carts", Stream: mayfly.StreamOff})
	equal(t, table.StreamSpecification == nil, true)
	equal(t, table.LatestStreamArn, nil)
}

func TestAnInvalidTableIsRejectedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	world := mayflytest.Server(t).World()
	for sentence, table := range map[string]mayfly.Table{
		`mayfly: cannot create the table "": Table.Name is required`: {},
		`mayfly: cannot create the table "carts": the attribute "at" is used with two types, N and S: use one`: {Name: "carts",
			Sort: mayfly.N("at"), Indexes: []mayfly.Index{{Name: "by_at", Key: mayfly.S("at")}}},
		`mayfly: cannot create the table "carts": Index.Name is required`: {Name: "carts",
			Indexes: []mayfly.Index{{Key: mayfly.S("state")}}},
		`mayfly: cannot create the table "carts": the global index "by_state" needs Key`: {Name: "carts",
			Indexes: []mayfly.Index{{Name: "by_state", Sort: mayfly.S("state")}}},
		`mayfly: cannot create the table "carts": the local index "by_state" needs Sort`: {Name: "carts",
			Indexes: []mayfly.Index{{Name: "by_state", Local: true}}},
		`mayfly: cannot create the table "carts": the local index "by_state" must have the table's partition key: leave Key out`: {
			Name: "carts", Indexes: []mayfly.Index{{Name: "by_state", Key: mayfly.S("state"), Sort: mayfly.S("at"), Local: true}}},
	} {
		_, err := world.CreateTable(ctx, table)
		if err == nil || err.Error() != sentence {
			t.Errorf("got the error\n%v\nwanted\n%s", err, sentence)
		}
	}
	tables, err := world.DynamoDB.ListTables(ctx, &dynamodb.ListTablesInput{})
	noError(t, err)
	equal(t, len(tables.TableNames), 0)
}

func TestCreateTableReturnsTheServersError(t *testing.T) {
	world := cartsWorld(t)
	_, err := world.World.CreateTable(ctx, carts)
	var exists *types.ResourceInUseException
	if !errors.As(err, &exists) {
		t.Errorf("the error is %v", err)
	}
}

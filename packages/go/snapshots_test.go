package mayfly_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func TestASnapshotRestoresItemsAndClock(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))
	snapshot := world.Snapshot()
	for range 2 {
		world.Clock.Advance(2 * time.Hour)
		equal(t, hasCart(t, world.DynamoDB, "1"), false)
		world.Restore(snapshot)
		equal(t, hasCart(t, world.DynamoDB, "1"), true)
		equal(t, world.Clock.Now(), new2031)
	}
	kept, err := world.Snapshots(ctx)
	noError(t, err)
	equal(t, len(kept), 1)
	equal(t, kept[0], snapshot)
	world.DeleteSnapshot(snapshot)
	if err := world.World.Restore(ctx, snapshot); err == nil {
		t.Error("a deleted snapshot was restored")
	}
}

func TestAResetDeletesTables(t *testing.T) {
	world := cartsWorld(t)
	world.Reset()
	tables, err := world.DynamoDB.ListTables(ctx, &dynamodb.ListTablesInput{})
	noError(t, err)
	equal(t, len(tables.TableNames), 0)
}

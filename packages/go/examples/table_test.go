package shop

import (
	"testing"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestATableCanHaveIndexes(t *testing.T) {
	t.Parallel()
	world := mayflytest.Start(t)
	world.CreateTable(mayfly.Table{
		Name:   "orders",
		Key:    mayfly.S("customer"), // default: S("id")
		Sort:   mayfly.N("at"),       // default: no sort key
		TTL:    "expires",            // default: no TTL
		Stream: mayfly.StreamOff,     // default: on, with new and old images
		Indexes: []mayfly.Index{
			{Name: "by_state", Key: mayfly.S("state"), Sort: mayfly.N("at"), Projection: mayfly.Include("total")},
			{Name: "by_total", Sort: mayfly.N("total"), Local: true},
		},
	})
}

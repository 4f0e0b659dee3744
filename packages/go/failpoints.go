package mayfly

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Failpoint stops the expiry of an item just before the item is deleted. Until the failpoint is released, clients can
// read and change the item, and an advance of the world's clock blocks when it reaches the item's expiry.
type Failpoint struct {
	world *World
	table string
	key   Item
}

// Failpoint arms a failpoint for the item with this key. The key is map[string]any{"id": "1"}, a struct, or attribute
// values.
func (world *World) Failpoint(ctx context.Context, table string, key any) (*Failpoint, error) {
	item, err := keyOf(key)
	if err != nil {
		return nil, err
	}
	point := &Failpoint{world, table, item}
	return point, world.Control(ctx, "PUT", "/failpoints", point.body(), nil)
}

const failpointPause = time.Millisecond

// Reached waits until the item's expiry has reached the failpoint. The advance that causes the expiry blocks until Release,
// so run the advance in another goroutine.
func (point *Failpoint) Reached(ctx context.Context) error {
	for {
		waiting, err := point.isWaiting(ctx)
		if err != nil || waiting {
			return err
		}
		select {
		case <-time.After(failpointPause):
		case <-ctx.Done():
			return fmt.Errorf("mayfly: no expiry reached the failpoint in table %s: %w", point.table, ctx.Err())
		}
	}
}

func (point *Failpoint) isWaiting(ctx context.Context) (bool, error) {
	var answer struct {
		Failpoints []struct {
			Region, Table, State string
			Key                  json.RawMessage
		}
	}
	if err := point.world.Control(ctx, "GET", "/failpoints", nil, &answer); err != nil {
		return false, err
	}
	for _, each := range answer.Failpoints {
		key, err := keyOf(each.Key)
		if err != nil {
			return false, err
		}
		if each.Table == point.table && each.Region == point.world.Region() && reflect.DeepEqual(key, point.key) {
			return each.State == "waiting", nil
		}
	}
	return false, fmt.Errorf("mayfly: the failpoint in table %s was released", point.table)
}

// Release lets the expiry continue. The item is re-checked and stays if it was renewed.
func (point *Failpoint) Release(ctx context.Context) error {
	return point.world.Control(ctx, "DELETE", "/failpoints", point.body(), nil)
}

// ReleaseAll releases all failpoints of the world.
func (world *World) ReleaseAll(ctx context.Context) error {
	return world.Control(ctx, "DELETE", "/failpoints", nil, nil)
}

func (point *Failpoint) body() any { return map[string]any{"table": point.table, "key": point.key} }

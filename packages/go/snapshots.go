package mayfly

import (
	"context"
	"net/url"
)

// SnapshotID names a snapshot of a world.
type SnapshotID string

// Snapshot keeps the world as it is: tables, items, indexes, pending expiries, streams and clock. It copies nothing.
func (world *World) Snapshot(ctx context.Context) (SnapshotID, error) {
	var taken struct{ ID SnapshotID }
	err := world.Control(ctx, "POST", "/snapshots", nil, &taken)
	return taken.ID, err
}

// Restore makes the world what it was, clock and all, as often as wanted.
func (world *World) Restore(ctx context.Context, snapshot SnapshotID) error {
	return world.Control(ctx, "POST", snapshot.path()+"/restore", nil, nil)
}

// DeleteSnapshot forgets one.
func (world *World) DeleteSnapshot(ctx context.Context, snapshot SnapshotID) error {
	return world.Control(ctx, "DELETE", snapshot.path(), nil, nil)
}

// Snapshots returns those that are kept.
func (world *World) Snapshots(ctx context.Context) ([]SnapshotID, error) {
	var kept struct{ Snapshots []struct{ ID SnapshotID } }
	err := world.Control(ctx, "GET", "/snapshots", nil, &kept)
	ids := make([]SnapshotID, len(kept.Snapshots))
	for i, snapshot := range kept.Snapshots {
		ids[i] = snapshot.ID
	}
	return ids, err
}

// Reset leaves nothing: no tables, streams, snapshots, mappings, faults; the clock as it begins. Functions stay.
func (world *World) Reset(ctx context.Context) error {
	return world.Control(ctx, "POST", "/reset", nil, nil)
}

func (snapshot SnapshotID) path() string { return "/snapshots/" + url.PathEscape(string(snapshot)) }

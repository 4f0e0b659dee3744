package mayfly

import (
	"context"
	"net/url"
)

// SnapshotID identifies a snapshot of a world.
type SnapshotID string

// Snapshot saves the state of the world: tables, items, indexes, pending expiries, streams and clock. It copies no data.
func (world *World) Snapshot(ctx context.Context) (SnapshotID, error) {
	var taken struct{ ID SnapshotID }
	err := world.Control(ctx, "POST", "/snapshots", nil, &taken)
	return taken.ID, err
}

// Restore restores the state that a snapshot saved, including the clock. A snapshot can be restored any number of times.
func (world *World) Restore(ctx context.Context, snapshot SnapshotID) error {
	return world.Control(ctx, "POST", snapshot.path()+"/restore", nil, nil)
}

// DeleteSnapshot deletes a snapshot.
func (world *World) DeleteSnapshot(ctx context.Context, snapshot SnapshotID) error {
	return world.Control(ctx, "DELETE", snapshot.path(), nil, nil)
}

// Snapshots returns the world's existing snapshots.
func (world *World) Snapshots(ctx context.Context) ([]SnapshotID, error) {
	var kept struct{ Snapshots []struct{ ID SnapshotID } }
	err := world.Control(ctx, "GET", "/snapshots", nil, &kept)
	ids := make([]SnapshotID, len(kept.Snapshots))
	for i, snapshot := range kept.Snapshots {
		ids[i] = snapshot.ID
	}
	return ids, err
}

// Reset deletes all tables, streams, snapshots, event source mappings and faults, and resets the clock. Registered functions
// remain.
func (world *World) Reset(ctx context.Context) error {
	return world.Control(ctx, "POST", "/reset", nil, nil)
}

func (snapshot SnapshotID) path() string { return "/snapshots/" + url.PathEscape(string(snapshot)) }

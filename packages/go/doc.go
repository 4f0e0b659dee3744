// Package mayfly starts Mayfly, DynamoDB for tests, and gives each test its own world: an account with tables, streams and
// a clock.
//
//	server, err := mayfly.Start(ctx, mayfly.Options{})
//	world := server.World()
//	_, err = world.Clock.Freeze(ctx)
//	_, err = world.CreateTable(ctx, mayfly.Table{Name: "carts", TTL: "ttl"})
//	_, err = world.DynamoDB.PutItem(ctx, …)
//	advanced, err := world.Clock.Advance(ctx, 48*time.Hour)    // advanced.Tables["carts"] items have expired
//	err = server.Close()
//
// In tests, use package mayflytest: mayflytest.Start(t) returns a world that is closed when the test ends.
//
// All methods can be called from any goroutine.
package mayfly

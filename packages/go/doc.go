// Package mayfly starts Mayfly, DynamoDB for tests, and gives each test a world of its own: tables, streams and a
// clock that stands still until it is moved.
//
//	server, err := mayfly.Start(ctx, mayfly.Options{})
//	world := server.World()
//	_, err = world.Clock.Freeze(ctx)
//	_, err = world.DynamoDB.PutItem(ctx, …)
//	advanced, err := world.Clock.Advance(ctx, 48*time.Hour)    // advanced.Tables["carts"] items have expired
//	err = server.Close()
//
// In tests package mayflytest does all that: mayflytest.Start(t) is a world, and ends with the test.
//
// Every method may be called from any goroutine.
package mayfly

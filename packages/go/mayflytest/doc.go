// Package mayflytest gives each Go test its own DynamoDB: empty, isolated from other tests, with a clock that the test
// moves.
//
//	func TestACartIsGoneAfterTwoDays(t *testing.T) {
//		t.Parallel()
//		world := mayflytest.Start(t)
//		world.Clock.Freeze()
//		world.CreateTable(mayfly.Table{Name: "carts", TTL: "ttl"})
//		shop := NewShop(world.DynamoDB, world.Clock.Now)
//		…
//		world.Clock.Advance(48 * time.Hour)
//	}
//
// All tests of a test binary share one server. The first call to Start starts the server. The server watches its parent
// process and exits within 0.2 s after the test binary has exited for any reason. To stop the server before the test
// binary exits, add
//
//	func TestMain(m *testing.M) { mayflytest.Main(m) }
//
// To use an existing server, set MAYFLY_URL to its URL.
//
// A failed test's log shows the server's log lines about the test's world, and the items whose TTL is probably wrong.
//
// Where a method of package mayfly returns an error, the method of the same name in this package fails the test. Like
// t.Fatal, these methods must be called in the test's own goroutine. Use the methods of world.World in other goroutines,
// and for errors that the test expects.
package mayflytest

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
// All tests of a test binary share one server. The first Start starts it. It ends within 0.2 s of the test binary, however
// that ends, because it watches its parent process. To end it before the test binary exits, add
//
//	func TestMain(m *testing.M) { mayflytest.Main(m) }
//
// To use a server that is running already, set MAYFLY_URL.
//
// A failed test's log shows the server's log lines about its world, and items whose TTL is probably a mistake.
//
// The methods of this package fail the test where those of package mayfly return an error. Like t.Fatal, they must be
// called in the test's own goroutine. Use the methods of world.World in other goroutines, and for errors that the test
// expects.
package mayflytest

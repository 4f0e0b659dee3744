// Package mayflytest gives a Go test DynamoDB of its own: empty, in parallel to all others, on a clock that it moves.
//
//	func TestACartIsGoneAfterTwoDays(t *testing.T) {
//		t.Parallel()
//		world := mayflytest.Start(t)
//		world.Clock.Freeze()
//		shop := NewShop(world.DynamoDB, world.Clock.Now)
//		…
//		world.Clock.Advance(48 * time.Hour)
//	}
//
// One server serves all tests of a test binary. The first Start starts it; it ends with the test binary, however that
// ends: the server itself sees that its parent process is gone, within 0.2 s. Go tells a library nothing of the end of a
// run, so a package that wants the server ended before that says
//
//	func TestMain(m *testing.M) { mayflytest.Main(m) }
//
// MAYFLY_URL names a server that runs already, for all of that. When a test fails, what the server logged since the
// test began is in the test's log.
//
// The methods here fail the test where those of package mayfly return an error, so they belong into the test's own
// goroutine, as t.Fatal does. In others, or where an error is expected, world.World has the methods that return it.
package mayflytest

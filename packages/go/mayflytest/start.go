package mayflytest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// Options is mayfly.Options: the program, the URL of an existing server, and additional arguments for `mayfly serve`.
type Options = mayfly.Options

// Start returns a new world, which is closed when the test ends. All tests of the test binary that pass the same options
// share a server, as do all tests that pass no options. If the server has ended, the next Start starts a new one. If the
// server cannot be started, the test fails with a message that says what to do.
func Start(t testing.TB, options ...Options) *World {
	t.Helper()
	return newWorld(t, Server(t, options...))
}

// Server returns the server on which Start creates worlds.
func Server(t testing.TB, options ...Options) *mayfly.Server {
	t.Helper()
	var chosen Options
	switch len(options) {
	case 0:
	case 1:
		chosen = options[0]
	default:
		t.Fatal("mayflytest: Start accepts at most one Options")
	}
	server, err := shared.server(chosen)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// Main runs the tests, ends the servers and exits:
//
//	func TestMain(m *testing.M) { mayflytest.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// servers are the servers of this process, one for each set of options.
type servers struct {
	mutex   sync.Mutex
	started map[string]*started
}

type started struct {
	once   sync.Once
	ready  atomic.Bool // whether `server` and `err` are set
	server *mayfly.Server
	err    error
}

func (one *started) hasEnded() bool {
	return one.ready.Load() && one.server != nil && one.server.Ended()
}

var shared servers

// server returns the running server, or starts one. Concurrent callers wait for the same start and get its result.
func (servers *servers) server(options Options) (*mayfly.Server, error) {
	one := servers.of(fmt.Sprintf("%#v", options))
	one.once.Do(func() {
		one.server, one.err = mayfly.Start(context.Background(), options)
		one.ready.Store(true)
	})
	return one.server, one.err
}

func (servers *servers) of(options string) *started {
	servers.mutex.Lock()
	defer servers.mutex.Unlock()
	if servers.started == nil {
		servers.started = map[string]*started{}
	}
	if one := servers.started[options]; one == nil || one.hasEnded() {
		servers.started[options] = &started{}
	}
	return servers.started[options]
}

func (servers *servers) close() error {
	servers.mutex.Lock()
	defer servers.mutex.Unlock()
	var first error
	for _, one := range servers.started {
		if one.server == nil {
			continue
		}
		if err := one.server.Close(); first == nil {
			first = err
		}
	}
	servers.started = nil
	return first
}

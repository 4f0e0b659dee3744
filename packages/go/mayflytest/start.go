package mayflytest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/mayfly-dynamodb/mayfly-go"
)

// Options is mayfly.Options: the program, a running server, more arguments of `mayfly serve`.
type Options = mayfly.Options

// Start returns a world of its own for the test; it ends with the test. All tests of the test binary that give the same
// options, or none, share a server. A server that does not start fails the test with a sentence that says why.
func Start(t testing.TB, options ...Options) *World {
	t.Helper()
	return newWorld(t, Server(t, options...))
}

// Server is the server that Start uses.
func Server(t testing.TB, options ...Options) *mayfly.Server {
	t.Helper()
	var chosen Options
	switch len(options) {
	case 0:
	case 1:
		chosen = options[0]
	default:
		t.Fatal("mayflytest: Start takes Options once")
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

// servers of this process, one for each set of options.
type servers struct {
	mutex   sync.Mutex
	started map[string]*started
}

type started struct {
	once   sync.Once
	server *mayfly.Server
	err    error
}

var shared servers

// server starts it if nobody has; others wait for that, and get the same error if it failed.
func (servers *servers) server(options Options) (*mayfly.Server, error) {
	one := servers.of(fmt.Sprintf("%#v", options))
	one.once.Do(func() { one.server, one.err = mayfly.Start(context.Background(), options) })
	return one.server, one.err
}

func (servers *servers) of(options string) *started {
	servers.mutex.Lock()
	defer servers.mutex.Unlock()
	if servers.started == nil {
		servers.started = map[string]*started{}
	}
	if servers.started[options] == nil {
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

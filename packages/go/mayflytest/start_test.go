package mayflytest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func TestMain(m *testing.M) { Main(m) }

// recorder is a test that tells what it was told, and may fail.
type recorder struct {
	testing.TB
	mutex    sync.Mutex
	log      []string
	failed   bool
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Failed() bool     { return r.failed }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Logf(format string, values ...any) {
	r.log = append(r.log, fmt.Sprintf(format, values...))
}

type failedNow struct{ sentence string }

func (r *recorder) Fatal(values ...any) {
	r.failed = true
	panic(failedNow{fmt.Sprint(values...)})
}

// Runs `test`; returns what it failed with, or nothing. Its clean-up is done.
func (r *recorder) run(test func()) (sentence string) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case failedNow:
			sentence = failure.sentence
		default:
			panic(failure)
		}
		for i := len(r.cleanups) - 1; i >= 0; i-- {
			r.cleanups[i]()
		}
	}()
	test()
	return ""
}

func TestAllTestsShareAServerAndEachHasAWorldOfItsOwn(t *testing.T) {
	t.Parallel()
	one, other := Start(t), Start(t)
	if one.Server() != other.Server() || one.Account() == other.Account() {
		t.Errorf("there are %s at %s and %s at %s", one.Account(), one.URL(), other.Account(), other.URL())
	}
}

func TestOtherOptionsAreAnotherServer(t *testing.T) {
	t.Parallel()
	frozen := Options{Args: []string{"--clock", "frozen", "--now", "2031-01-01T00:00:00Z"}}
	world := Start(t, frozen)
	if world.Server() == Server(t) || world.Server() != Server(t, frozen) {
		t.Error("servers are shared by others than those who ask for the same")
	}
	if now := world.Clock.Now(); now.Year() != 2031 {
		t.Errorf("it is %v", now)
	}
}

func TestAServerThatDoesNotStartFailsEachTestWithASentence(t *testing.T) {
	t.Parallel()
	for range 2 {
		r := &recorder{}
		sentence := r.run(func() { Start(r, Options{Binary: "/nowhere/mayfly"}) })
		if !strings.HasPrefix(sentence, "mayfly: Options.Binary names /nowhere/mayfly, which cannot be started on ") {
			t.Errorf("the test fails with %s", sentence)
		}
	}
}

func TestAFailedTestShowsWhatTheServerLoggedSinceItBegan(t *testing.T) {
	t.Parallel()
	own := Options{Args: []string{"--log-level", "debug"}}
	r := &recorder{}
	sentence := r.run(func() {
		world := Start(r, own)
		world.Explain("cards", map[string]any{"id": "1"})
		t.Error("a table that is not there is explained")
	})
	if !strings.HasPrefix(sentence, "mayfly: There is no table cards in us-east-1 of account ") {
		t.Errorf("the test fails with %s", sentence)
	}
	if len(r.log) != 1 || !strings.HasPrefix(r.log[0], "mayfly logged, of all worlds (this one was ") {
		t.Errorf("its log is %q", r.log)
	}
	good := &recorder{}
	if sentence := good.run(func() { Start(good, own) }); sentence != "" || len(good.log) != 0 {
		t.Errorf("a good test says %s and logs %q", sentence, good.log)
	}
}

// One call of each kind to a world that there is not: each fails its test.
func TestEachMethodFailsTheTestWithItsError(t *testing.T) {
	t.Parallel()
	server, err := mayfly.Start(ctx, mayfly.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func(*World){
		"Now":                 func(world *World) { world.Clock.Now() },
		"Freeze":              func(world *World) { world.Clock.Freeze() },
		"FreezeAt":            func(world *World) { world.Clock.FreezeAt(time.Now()) },
		"Set":                 func(world *World) { world.Clock.Set(time.Now()) },
		"Real":                func(world *World) { world.Clock.Real() },
		"Rate":                func(world *World) { world.Clock.Rate(2) },
		"Advance":             func(world *World) { world.Clock.Advance(time.Hour) },
		"AdvanceTo":           func(world *World) { world.Clock.AdvanceTo(time.Now()) },
		"AdvanceToNextExpiry": func(world *World) { world.Clock.AdvanceToNextExpiry() },
		"WaitFor":             func(world *World) { world.WaitFor("carts", map[string]any{}, mayfly.Wait{}) },
		"Explain":             func(world *World) { world.Explain("carts", map[string]any{}) },
		"Status":              func(world *World) { world.TTL("carts").Status() },
		"Exact":               func(world *World) { world.TTL("carts").Exact() },
		"Manual":              func(world *World) { world.TTL("carts").Manual() },
		"AWS":                 func(world *World) { world.TTL("carts").AWS(0, time.Second, 1) },
		"Sweep":               func(world *World) { world.TTL("carts").Sweep() },
		"Upcoming":            func(world *World) { world.TTL("carts").Upcoming(1) },
		"Snapshot":            func(world *World) { world.Snapshot() },
		"Restore":             func(world *World) { world.Restore("1") },
		"DeleteSnapshot":      func(world *World) { world.DeleteSnapshot("1") },
		"Reset":               func(world *World) { world.Reset() },
		"Faults":              func(world *World) { world.Faults() },
		"ClearFaults":         func(world *World) { world.ClearFaults() },
		"FaultCounts":         func(world *World) { world.FaultCounts() },
		"Failpoint":           func(world *World) { world.Failpoint("carts", map[string]any{}) },
		"FunctionAt":          func(world *World) { world.FunctionAt("reminder", "http://127.0.0.1:9/", 0) },
		"Control":             func(world *World) { world.Control("GET", "/", nil) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			if sentence := r.run(func() { call(newWorld(r, server)) }); !strings.HasPrefix(sentence, "mayfly: the server has ended") {
				t.Errorf("%s says %q", name, sentence)
			}
		})
	}
}

func TestTheServersOfARunAreEndedWithIt(t *testing.T) {
	t.Parallel()
	var own servers
	server, err := own.server(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := own.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := server.World().Clock.Now(ctx); err == nil {
		t.Error("it goes on")
	}
}

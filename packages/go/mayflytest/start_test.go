package mayflytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mayfly-dynamodb/mayfly-go"
)

func TestMain(m *testing.M) { Main(m) }

// recorder is a testing.TB for a test that can fail. It records errors and logs.
type recorder struct {
	testing.TB
	mutex    sync.Mutex
	log      []string
	errors   []string
	failed   bool
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Failed() bool     { return r.failed }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Logf(format string, values ...any) {
	r.log = append(r.log, fmt.Sprintf(format, values...))
}

func (r *recorder) Error(values ...any) {
	r.failed = true
	r.errors = append(r.errors, fmt.Sprint(values...))
}

type failedNow struct{ sentence string }

func (r *recorder) Fatal(values ...any) {
	r.failed = true
	panic(failedNow{fmt.Sprint(values...)})
}

// run runs `test` and its cleanup functions. It returns the message of Fatal, or "".
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

func TestTestsShareAServerAndEachTestHasItsOwnWorld(t *testing.T) {
	t.Parallel()
	one, other := Start(t), Start(t)
	if one.Server() != other.Server() || one.Account() == other.Account() {
		t.Errorf("the worlds are %s at %s and %s at %s", one.Account(), one.URL(), other.Account(), other.URL())
	}
}

func TestEachSetOfOptionsHasItsOwnServer(t *testing.T) {
	t.Parallel()
	frozen := Options{Args: []string{"--clock", "frozen", "--now", "2031-01-01T00:00:00Z"}}
	world := Start(t, frozen)
	if world.Server() == Server(t) || world.Server() != Server(t, frozen) {
		t.Error("servers are not shared by exactly the tests with the same options")
	}
	if now := world.Clock.Now(); now.Year() != 2031 {
		t.Errorf("the server's clock shows %v", now)
	}
}

func TestAFailedStartFailsEachTestWithTheStartsErrorMessage(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "mayfly")
	for range 2 {
		r := &recorder{}
		sentence := r.run(func() { Start(r, Options{Binary: missing}) })
		if !strings.HasPrefix(sentence, "mayfly: cannot run "+missing+" from Options.Binary on ") {
			t.Errorf("the test fails with %s", sentence)
		}
	}
}

func TestAFailedTestShowsTheServersLogAboutTheTestsWorld(t *testing.T) {
	t.Parallel()
	own := Options{Args: []string{"--log-level", "debug"}}
	r := &recorder{}
	var account string
	sentence := r.run(func() {
		world, other := Start(r, own), Start(t, own)
		account = world.Account()
		other.Clock.Freeze()
		other.CreateTable(mayfly.Table{Name: "others"})
		world.Explain("cards", map[string]any{"id": "1"})
		t.Error("Explain succeeded for a missing table")
	})
	if !strings.HasPrefix(sentence, "mayfly: There is no table 'cards' in account ") {
		t.Errorf("the test fails with %s", sentence)
	}
	if len(r.log) != 1 || !strings.HasPrefix(r.log[0], "mayfly's log of this test (account "+account+"):\n") ||
		!strings.Contains(r.log[0], "POST /_mayfly/ttl/cards/explain of account "+account) {
		t.Errorf("its log is %q", r.log)
	}
	if strings.Contains(r.log[0], "others") || strings.Contains(r.log[0], "frozen") {
		t.Errorf("its log has lines about another world: %s", r.log[0])
	}
	good := &recorder{}
	if sentence := good.run(func() { Start(good, own) }); sentence != "" || len(good.log) != 0 {
		t.Errorf("a passing test fails with %q and logs %q", sentence, good.log)
	}
}

var errNoStamps = errors.New("no stamps")

// failing returns a world with the table carts, one item, and a function named reminder that fails.
func failing(t testing.TB, settings map[string]any, options ...mayfly.FunctionOption) (world *World, called chan struct{}) {
	world, called = Start(t), make(chan struct{}, 100)
	world.CreateTable(mayfly.Table{Name: "carts", TTL: "ttl"})
	world.Function("reminder", func(context.Context, json.RawMessage) (any, error) {
		called <- struct{}{}
		return nil, errNoStamps
	}, options...)
	world.Trigger("carts", "reminder", settings)
	put(t, world, map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}})
	return world, called
}

func put(t testing.TB, world *World, item map[string]types.AttributeValue) {
	_, err := world.DynamoDB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("carts"), Item: item})
	check(t, err)
}

func TestAFailingHandlerFailsItsTestOnceAtSettle(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(*World){
		"Settle":  func(world *World) { world.Settle() },
		"Advance": func(world *World) { world.Clock.Advance(time.Hour, mayfly.Settle()) },
	} {
		r := &recorder{}
		sentence := r.run(func() {
			world, _ := failing(r, map[string]any{"MaximumRetryAttempts": 0})
			settle(world)
		})
		if !strings.HasPrefix(sentence, "mayfly: The handler of function reminder failed with: no stamps. Function reminder on table carts: 1 record given up") {
			t.Errorf("with %s the test fails with %q", name, sentence)
		}
		if len(r.errors) != 0 {
			t.Errorf("its end adds %q", r.errors)
		}
	}
}

func TestAFailingHandlerFailsItsTestAtTheEndOfTheTest(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	sentence := r.run(func() {
		_, called := failing(r, map[string]any{"MaximumRetryAttempts": 1})
		<-called
		<-called // by the second call, the first call's failure has been recorded
	})
	if sentence != "" || len(r.errors) == 0 || !strings.HasPrefix(r.errors[0], "mayfly: The handler of function reminder failed") {
		t.Errorf("the test fails with %q %q", sentence, r.errors)
	}
}

func TestTheEndOfATestDeliversRemainingRecordsToHandlers(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	sentence := r.run(func() {
		failing(r, map[string]any{"MaximumBatchingWindowInSeconds": 300, "MaximumRetryAttempts": 0})
	})
	if sentence != "" || len(r.errors) != 1 || !strings.HasPrefix(r.errors[0], "mayfly: The handler of function reminder failed") {
		t.Errorf("the test fails with %q %q", sentence, r.errors)
	}
}

func TestAHandlerThatMayFailDoesNotFailItsTest(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	sentence := r.run(func() {
		world, _ := failing(r, map[string]any{"MaximumRetryAttempts": 0}, mayfly.MayFail())
		if advanced := world.Settle(); advanced.Settled || len(advanced.GivenUp) != 1 {
			t.Errorf("Settle returns %+v", advanced)
		}
	})
	if sentence != "" || r.failed {
		t.Errorf("the test fails with %q %q", sentence, r.errors)
	}
}

func TestAFailedTestListsItemsWithASuspectTTL(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	r.run(func() {
		world := Start(r)
		world.CreateTable(mayfly.Table{Name: "carts", TTL: "ttl"})
		put(r, world, map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"},
			"ttl": &types.AttributeValueMemberS{Value: "1795590184"}})
		r.Error("the cart has not expired")
	})
	if len(r.log) == 0 || !strings.HasPrefix(r.log[0], `mayfly: check the TTL of carts/{"id":{"S":"1"}}: `) {
		t.Errorf("its log is %q", r.log)
	}
}

func TestATestAfterAServersDeathGetsANewServer(t *testing.T) {
	t.Parallel()
	own := Options{Args: []string{"--log-level", "warning"}}
	r := &recorder{}
	sentence := r.run(func() {
		world := Start(r, own)
		if err := world.Server().Close(); err != nil {
			t.Error(err)
		}
		world.CreateTable(mayfly.Table{Name: "carts"})
	})
	how := "exit status 0"
	if runtime.GOOS == "windows" { // which has no SIGTERM
		how = "exit status 1"
	}
	if !strings.HasPrefix(sentence, "mayfly: the server has ended ("+how+");") {
		t.Errorf("the test fails with %q", sentence)
	}
	Start(t, own).CreateTable(mayfly.Table{Name: "carts"})
}

// TestEachMethodOfAWorldFailsTheTestIfTheCallFails makes one call of each kind to a server that has ended.
func TestEachMethodOfAWorldFailsTheTestIfTheCallFails(t *testing.T) {
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
		"CreateTable":         func(world *World) { world.CreateTable(mayfly.Table{Name: "carts"}) },
		"Settle":              func(world *World) { world.Settle() },
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

func TestTheServersOfATestRunEndWhenTheyAreClosed(t *testing.T) {
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
		t.Error("the server still answers")
	}
}

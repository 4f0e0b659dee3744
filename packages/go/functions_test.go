package mayfly_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

const onlyExpired = `{"userIdentity":{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]}}`

func TestAFunctionReceivesExpiredItems(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	var mutex sync.Mutex
	var reminded []mayfly.Record
	world.Function("reminder", mayfly.Handler(func(_ context.Context, event mayfly.StreamEvent) (any, error) {
		mutex.Lock()
		defer mutex.Unlock()
		reminded = append(reminded, event.Records...)
		return nil, nil
	}))
	world.Trigger("carts", "reminder", map[string]any{
		"FilterCriteria": map[string]any{"Filters": []any{map[string]any{"Pattern": onlyExpired}}}})
	putCart(t, world.DynamoDB, "1", new2031.Add(time.Hour))

	advanced := world.Clock.Advance(2*time.Hour, mayfly.Settle())
	equal(t, advanced.Settled, true)
	mutex.Lock()
	defer mutex.Unlock()
	equal(t, len(reminded), 1)
	equal(t, reminded[0].Event, mayfly.Remove)
	equal(t, reminded[0].By, mayfly.ByService)
}

var errNoStamps = errors.New("no stamps")

func fails(context.Context, json.RawMessage) (any, error) { return nil, errNoStamps }

func TestTheServerRetriesAndThenGivesUpOnABatchOfAFunctionThatMayFail(t *testing.T) {
	world := cartsWorld(t)
	world.Function("reminder", fails, mayfly.MayFail())
	world.Trigger("carts", "reminder", map[string]any{"MaximumRetryAttempts": 2})
	putCart(t, world.DynamoDB, "1", new2031)
	advanced := world.Settle()
	equal(t, advanced.Settled, false)
	equal(t, len(advanced.Unfinished), 0)
	equal(t, len(advanced.GivenUp), 1)
	batch := advanced.GivenUp[0]
	equal(t, batch.Function+" "+batch.Table+" "+batch.Condition, "reminder carts RetryAttemptsExhausted")
	equal(t, batch.Attempts, 3)
	equal(t, batch.Error, mayfly.InvocationError{Status: 200, Kind: "Unhandled", Type: "*errors.errorString", Message: "no stamps"})
	equal(t, len(batch.Records), 1)
	equal(t, batch.Records[0].Event, mayfly.Insert)
	equal(t, batch.Records[0].Key["id"].(*types.AttributeValueMemberS).Value, "1")
	failures := world.HandlerFailures()
	equal(t, len(failures), 3)
	equal(t, failures[2].Err, errNoStamps)
	equal(t, failures[2].MayFail, true)
	noError(t, world.CheckHandlers())
}

func TestSettleReturnsAHandlersFailureOnceWithItsRecordsAndAttempts(t *testing.T) {
	t.Parallel()
	world := ownCarts(t)
	noError(t, world.Function(ctx, "reminder", fails))
	trigger(t, world, "reminder", map[string]any{"MaximumRetryAttempts": 1})
	putCart(t, world.DynamoDB, "1", new2031)
	advanced, err := world.Settle(ctx)
	equal(t, err.Error(), "mayfly: The handler of function reminder failed 2 times, last with: no stamps. Function reminder on "+
		"table carts: 1 record given up after 2 attempts (RetryAttemptsExhausted). If the test expects this, register the "+
		"function with mayfly.MayFail().")
	var failed *mayfly.HandlerError
	equal(t, errors.As(err, &failed) && errors.Is(err, errNoStamps), true)
	equal(t, len(failed.Failures), 2)
	equal(t, len(failed.GivenUp), 1)
	equal(t, advanced.Settled, false)

	advanced, err = world.Settle(ctx)
	noError(t, err)
	equal(t, advanced.Settled, true)
	noError(t, world.Close())
}

func TestSettleDoesNotWaitForABatchThatIsRetriedWithoutALimit(t *testing.T) {
	t.Parallel()
	world := ownCarts(t)
	noError(t, world.Function(ctx, "reminder", fails))
	trigger(t, world, "reminder", nil)
	putCart(t, world.DynamoDB, "1", new2031)
	_, err := world.Settle(ctx, mayfly.SettleWithin(10*time.Minute))
	var failed *mayfly.HandlerError
	if !errors.As(err, &failed) || len(failed.Retrying) != 1 {
		t.Fatalf("the error is %v", err)
	}
	retrying := failed.Retrying[0].Retrying
	equal(t, retrying.Attempts >= 3, true)
	equal(t, retrying.Records, 1)
	equal(t, retrying.Error.Message, "no stamps")
	if !strings.Contains(err.Error(), " Function reminder on table carts: 1 record still being retried after ") {
		t.Errorf("the error is %v", err)
	}
	// Failures of further retries of the batch are not reported again.
	noError(t, world.Close())
}

func TestSettleReportsHandlersThatPanicOrEndTheirGoroutine(t *testing.T) {
	t.Parallel()
	for how, handler := range map[string]mayfly.Function{
		"panic: no stamps": func(context.Context, json.RawMessage) (any, error) { panic(errNoStamps) },
		"the handler ended its goroutine (runtime.Goexit, t.FailNow or t.Fatal)": func(context.Context, json.RawMessage) (any, error) {
			runtime.Goexit()
			return nil, nil
		},
		"json: unsupported type: chan int": func(context.Context, json.RawMessage) (any, error) { return make(chan int), nil },
	} {
		world := ownCarts(t)
		noError(t, world.Function(ctx, "reminder", handler))
		trigger(t, world, "reminder", map[string]any{"MaximumRetryAttempts": 0})
		putCart(t, world.DynamoDB, "1", new2031)
		_, err := world.Settle(ctx)
		if err == nil || !strings.HasPrefix(err.Error(), "mayfly: The handler of function reminder failed with: "+how+". Function reminder") {
			t.Errorf("the error is %v", err)
		}
		var panicked *mayfly.PanicError
		if errors.As(err, &panicked) && !strings.Contains(panicked.Stack, "functions_test.go") {
			t.Errorf("the stack is %s", panicked.Stack)
		}
		equal(t, errors.Is(err, errNoStamps), how == "panic: no stamps")
	}
}

func TestAFailureIsReportedEvenIfARetrySucceeds(t *testing.T) {
	t.Parallel()
	world := ownCarts(t)
	first := make(chan struct{}, 1)
	first <- struct{}{}
	noError(t, world.Function(ctx, "reminder", func(context.Context, json.RawMessage) (any, error) {
		select {
		case <-first:
			return nil, errNoStamps
		default:
			return nil, nil
		}
	}))
	trigger(t, world, "reminder", nil)
	putCart(t, world.DynamoDB, "1", new2031)
	advanced, err := world.Settle(ctx)
	equal(t, errors.Is(err, errNoStamps), true)
	equal(t, advanced.Settled, true)
}

func TestCloseReturnsFailuresThatNoSettleReturned(t *testing.T) {
	t.Parallel()
	world := ownCarts(t)
	called := make(chan struct{}, 10)
	noError(t, world.Function(ctx, "reminder", func(context.Context, json.RawMessage) (any, error) {
		called <- struct{}{}
		return nil, errNoStamps
	}))
	trigger(t, world, "reminder", map[string]any{"MaximumRetryAttempts": 1})
	putCart(t, world.DynamoDB, "1", new2031)
	<-called
	<-called // by the second call, the first call's failure has been recorded
	_, err := world.Clock.Advance(ctx, time.Second)
	noError(t, err)
	err = world.Close()
	var failed *mayfly.HandlerError
	if !errors.As(err, &failed) || len(failed.Failures) == 0 {
		t.Errorf("Close returned %v", err)
	}
}

func TestSettleReturnsFailuresOfAFunctionAtAURLUnlessTheFunctionMayFail(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		out.Header().Set("X-Amz-Function-Error", "Unhandled")
		_, _ = out.Write([]byte(`{"errorType":"AssertionError","errorMessage":"assert 1 == 2"}`))
	}))
	defer elsewhere.Close()
	for _, mayFail := range []bool{false, true} {
		world := ownCarts(t)
		var options []mayfly.FunctionOption
		if mayFail {
			options = append(options, mayfly.MayFail())
		}
		noError(t, world.FunctionAt(ctx, "reminder", elsewhere.URL, 0, options...))
		trigger(t, world, "reminder", map[string]any{"MaximumRetryAttempts": 0})
		putCart(t, world.DynamoDB, "1", new2031)
		advanced, err := world.Settle(ctx)
		equal(t, len(advanced.GivenUp), 1)
		if mayFail {
			noError(t, err)
			continue
		}
		equal(t, err.Error(), "mayfly: Function reminder on table carts: 1 record given up after 1 attempt (RetryAttemptsExhausted), "+
			"last error: AssertionError: assert 1 == 2. If the test expects this, register the function with mayfly.MayFail().")
	}
}

// ownCarts returns a world whose handler failures do not fail the test. The world has the table carts.
func ownCarts(t *testing.T) *mayfly.World {
	t.Helper()
	world := mayflytest.Server(t).World()
	t.Cleanup(func() { _ = world.Close() })
	_, err := world.CreateTable(ctx, carts)
	noError(t, err)
	return world
}

func trigger(t *testing.T, world *mayfly.World, function string, settings map[string]any) {
	t.Helper()
	_, err := world.Trigger(ctx, "carts", function, settings)
	noError(t, err)
}

func TestSettleFailsIfATriggersFunctionIsNotRegistered(t *testing.T) {
	world := cartsWorld(t)
	id := world.Trigger("carts", "remindr", nil)
	world.Settle() // there are no records yet
	putCart(t, world.DynamoDB, "1", new2031)
	advanced, err := world.World.Settle(ctx)
	var failed *mayfly.HandlerError
	if !errors.As(err, &failed) || err.Error() != "mayfly: Function remindr is not registered, but a trigger of table carts "+
		"has records for it. Register the function, or correct the trigger's function name." {
		t.Fatalf("the error is %v", err)
	}
	equal(t, len(failed.Unregistered), 1)
	equal(t, failed.Unregistered[0].UUID, id)
	equal(t, advanced.Settled, false)
	equal(t, len(advanced.Unfinished), 1)
	world.Function("remindr", mayfly.Handler(func(context.Context, mayfly.StreamEvent) (any, error) { return nil, nil }))
	world.Settle()
}

func TestFunctionAtRegistersAFunctionByItsURL(t *testing.T) {
	world := cartsWorld(t)
	called := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		called <- request.URL.Path
		_, _ = out.Write([]byte("{}"))
	}))
	defer elsewhere.Close()
	world.FunctionAt("reminder", elsewhere.URL+"/2015-03-31/functions/function/invocations", 3*time.Second)
	functions, err := world.Functions(ctx)
	noError(t, err)
	equal(t, functions[0], mayfly.RegisteredFunction{Name: "reminder", TimeoutSeconds: 3,
		URL: elsewhere.URL + "/2015-03-31/functions/function/invocations"})
	world.Trigger("carts", "reminder", nil)
	putCart(t, world.DynamoDB, "1", new2031)
	equal(t, world.Clock.Advance(0, mayfly.Settle()).Settled, true)
	equal(t, <-called, "/2015-03-31/functions/function/invocations")
	noError(t, world.RemoveFunction(ctx, "reminder"))
}

func TestAnInvalidTriggerIsRejected(t *testing.T) {
	world := cartsWorld(t)
	var missing *types.ResourceNotFoundException
	if _, err := world.World.Trigger(ctx, "cards", "reminder", nil); !errors.As(err, &missing) {
		t.Errorf("a trigger of a missing table returned %v", err)
	}
	world.CreateTable(mayfly.Table{Name: "silent", Stream: mayfly.StreamOff})
	_, err := world.World.Trigger(ctx, "silent", "reminder", nil)
	if wanted := `mayfly: the table "silent" has no stream: create it with a Table.Stream other than StreamOff`; err == nil ||
		err.Error() != wanted {
		t.Errorf("a trigger of a table without a stream returned %v", err)
	}
	_, err = world.World.Trigger(ctx, "carts", "reminder", map[string]any{"BatchSize": 0})
	var refused *mayfly.Error
	if !errors.As(err, &refused) || refused.Status != 400 ||
		refused.Type != "ValidationException" || refused.Message == "" {
		t.Errorf("a trigger with an invalid setting returned %#v", err)
	}
}

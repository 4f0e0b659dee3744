package mayfly_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
)

const onlyExpired = `{"userIdentity":{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]}}`

func TestAFunctionOfTheTestGetsWhatExpired(t *testing.T) {
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

func TestAnErrorOfAFunctionIsTriedAgainAndThenGivenUp(t *testing.T) {
	world := cartsWorld(t)
	var mutex sync.Mutex
	calls := 0
	world.Function("reminder", func(_ context.Context, payload json.RawMessage) (any, error) {
		mutex.Lock()
		defer mutex.Unlock()
		calls++
		return nil, errors.New("no stamps")
	})
	world.Trigger("carts", "reminder", map[string]any{"MaximumRetryAttempts": 2})
	putCart(t, world.DynamoDB, "1", new2031)
	advanced := world.Clock.Advance(0, mayfly.SettleWithin(20*time.Second))
	equal(t, advanced.Settled, true)
	mutex.Lock()
	defer mutex.Unlock()
	equal(t, calls, 3)
}

func TestAMappingWhoseFunctionNobodyRegisteredIsUnfinished(t *testing.T) {
	world := cartsWorld(t)
	id := world.Trigger("carts", "nobody", nil)
	putCart(t, world.DynamoDB, "1", new2031)
	advanced := world.Clock.Advance(0, mayfly.SettleWithin(time.Millisecond))
	equal(t, advanced.Settled, false)
	equal(t, len(advanced.Unfinished), 1)
	equal(t, advanced.Unfinished[0].UUID, id)
}

func TestAFunctionElsewhereIsRegisteredByItsAddress(t *testing.T) {
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

func TestATriggerOfATableThatIsMissingSaysSo(t *testing.T) {
	world := cartsWorld(t)
	if _, err := world.World.Trigger(ctx, "cards", "reminder", nil); err == nil {
		t.Error("a table that is not there has a stream")
	}
	_, err := world.World.Trigger(ctx, "carts", "reminder", map[string]any{"BatchSize": 0})
	var refused *mayfly.Error
	if !errors.As(err, &refused) || refused.Status != 400 ||
		refused.Type != "ValidationException" || refused.Message == "" {
		t.Errorf("a mapping that cannot be answers %#v", err)
	}
}

package mayfly

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Function is one that event source mappings and Lambda's Invoke call: it gets the payload, JSON, and what it returns
// is encoded as JSON. An error fails the invocation.
type Function func(ctx context.Context, payload json.RawMessage) (any, error)

// Handler makes a Function of one that takes a decoded event, such as Lambda's handlers:
//
//	mayfly.Handler(func(ctx context.Context, event mayfly.StreamEvent) (any, error) { … })
func Handler[E, R any](handle func(context.Context, E) (R, error)) Function {
	return func(ctx context.Context, payload json.RawMessage) (any, error) {
		var event E
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, fmt.Errorf("the event cannot be read: %w", err)
		}
		return handle(ctx, event)
	}
}

// StreamEvent is what a table's stream sends to a function.
type StreamEvent struct{ Records []Record }

// Function registers a function of this process under a name; it is served on a free port of the loopback interface
// until the world is closed. A server on another machine, or in a container, cannot reach it: see FunctionAt.
func (world *World) Function(ctx context.Context, name string, function Function) error {
	address, err := world.functions.serve(name, function)
	if err != nil {
		return fmt.Errorf("mayfly: the function %s cannot be served: %w", name, err)
	}
	return world.FunctionAt(ctx, name, address, 0)
}

// FunctionAt registers the function that an address, http://…, answers for. An invocation may take so long; 0: a minute.
func (world *World) FunctionAt(ctx context.Context, name, address string, timeout time.Duration) error {
	world.functions.registered.Store(true)
	body := map[string]any{"url": address}
	if timeout != 0 {
		body["timeout_seconds"] = timeout.Seconds()
	}
	return world.Control(ctx, "PUT", functionPath(name), body, nil)
}

// RemoveFunction forgets one.
func (world *World) RemoveFunction(ctx context.Context, name string) error {
	return world.Control(ctx, "DELETE", functionPath(name), nil, nil)
}

// RegisteredFunction is a function that the world knows.
type RegisteredFunction struct {
	Name, URL      string
	TimeoutSeconds float64 `json:"timeout_seconds"`
}

// Functions returns those that are registered.
func (world *World) Functions(ctx context.Context) ([]RegisteredFunction, error) {
	var answer struct{ Functions []RegisteredFunction }
	err := world.Control(ctx, "GET", "/functions", nil, &answer)
	return answer.Functions, err
}

func functionPath(name string) string { return "/functions/" + url.PathEscape(name) }

// localFunctions serves the functions of this process. The zero value serves none yet.
type localFunctions struct {
	registered atomic.Bool // the server has been told of one, local or not

	mutex     sync.Mutex
	server    *http.Server
	address   string
	functions map[string]Function
}

// serve returns the function's address.
func (local *localFunctions) serve(name string, function Function) (string, error) {
	local.mutex.Lock()
	defer local.mutex.Unlock()
	if local.server == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		local.address = "http://" + listener.Addr().String()
		local.functions = map[string]Function{}
		local.server = &http.Server{Handler: local, ReadHeaderTimeout: time.Minute}
		go func(server *http.Server) { _ = server.Serve(listener) }(local.server)
	}
	local.functions[name] = function
	return local.address + "/" + url.PathEscape(name), nil
}

// close ends the serving of them, also of calls under way.
func (local *localFunctions) close() {
	local.mutex.Lock()
	defer local.mutex.Unlock()
	if local.server != nil {
		_ = local.server.Close()
		local.server, local.functions = nil, nil
	}
}

// ServeHTTP answers as Lambda's runtime does: the result, or an error with its type and message.
func (local *localFunctions) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	local.mutex.Lock()
	function := local.functions[strings.TrimPrefix(request.URL.Path, "/")]
	local.mutex.Unlock()
	if function == nil {
		http.NotFound(out, request)
		return
	}
	payload, err := io.ReadAll(request.Body)
	if err != nil {
		return // who called is gone
	}
	result, err := function(request.Context(), payload)
	var text []byte
	if err == nil {
		text, err = json.Marshal(result)
	}
	if err != nil {
		out.Header().Set("X-Amz-Function-Error", "Unhandled")
		text, _ = json.Marshal(map[string]string{"errorType": fmt.Sprintf("%T", err), "errorMessage": err.Error()})
	}
	out.Header().Set("Content-Type", "application/json")
	_, _ = out.Write(text)
}

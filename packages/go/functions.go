package mayfly

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Function handles invocations by event source mappings and by Lambda's Invoke. It receives the payload, which is JSON,
// and its result is encoded as JSON. An error or a panic fails the invocation. Unless the function was registered with
// MayFail, the failure also fails the test: it is printed to stderr, and the next Settle, Advance with Settle, or Close
// returns a *HandlerError.
type Function func(ctx context.Context, payload json.RawMessage) (any, error)

// Handler turns a Lambda handler, or another function that takes a decoded event, into a Function:
//
//	mayfly.Handler(func(ctx context.Context, event mayfly.StreamEvent) (any, error) { … })
func Handler[E, R any](handle func(context.Context, E) (R, error)) Function {
	return func(ctx context.Context, payload json.RawMessage) (any, error) {
		var event E
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, fmt.Errorf("cannot decode the event: %w", err)
		}
		return handle(ctx, event)
	}
}

// StreamEvent is the event that a table's stream sends to a function.
type StreamEvent struct{ Records []Record }

// FunctionOption is an option of a function: MayFail or Timeout.
type FunctionOption func(*functionSettings)

type functionSettings struct {
	mayFail bool
	timeout time.Duration // 0: the server's default
}

// MayFail declares that the test expects the function to fail. The function's failures are neither printed nor returned
// as errors, but HandlerFailures includes them.
func MayFail() FunctionOption { return func(settings *functionSettings) { settings.mayFail = true } }

// Timeout limits the duration of an invocation. The default is one minute.
func Timeout(longest time.Duration) FunctionOption {
	return func(settings *functionSettings) { settings.timeout = longest }
}

// Function registers a function of this process under a name. The function is served on a free port of the loopback
// interface until the world is closed. A server on another machine or in a container cannot reach the function; for
// such a server, use FunctionAt.
func (world *World) Function(ctx context.Context, name string, function Function, options ...FunctionOption) error {
	settings := functionSettings{}
	for _, option := range options {
		option(&settings)
	}
	address, err := world.functions.serve(name, function)
	if err != nil {
		return fmt.Errorf("mayfly: cannot serve the function %s: %w", name, err)
	}
	return world.register(ctx, name, address, settings)
}

// FunctionAt registers a function that runs at a URL, http://…. A timeout of 0 means one minute.
func (world *World) FunctionAt(ctx context.Context, name, address string, timeout time.Duration,
	options ...FunctionOption) error {
	settings := functionSettings{timeout: timeout}
	for _, option := range options {
		option(&settings)
	}
	return world.register(ctx, name, address, settings)
}

func (world *World) register(ctx context.Context, name, address string, settings functionSettings) error {
	world.failures.declare(name, settings.mayFail)
	world.functions.registered.Store(true)
	body := map[string]any{"url": address}
	if settings.timeout != 0 {
		body["timeout_seconds"] = settings.timeout.Seconds()
	}
	return world.Control(ctx, "PUT", functionPath(name), body, nil)
}

// RemoveFunction removes the registration of a function.
func (world *World) RemoveFunction(ctx context.Context, name string) error {
	return world.Control(ctx, "DELETE", functionPath(name), nil, nil)
}

// RegisteredFunction is the registration of a function.
type RegisteredFunction struct {
	Name, URL      string
	TimeoutSeconds float64 `json:"timeout_seconds"`
}

// Functions returns all registered functions.
func (world *World) Functions(ctx context.Context) ([]RegisteredFunction, error) {
	var answer struct{ Functions []RegisteredFunction }
	err := world.Control(ctx, "GET", "/functions", nil, &answer)
	return answer.Functions, err
}

func functionPath(name string) string { return "/functions/" + url.PathEscape(name) }

// localFunctions serves the functions of this process. The zero value serves no functions.
type localFunctions struct {
	registered atomic.Bool // whether a function of this world, local or not, is registered with the server
	failed     func(function string, payload []byte, err error)

	mutex     sync.Mutex
	server    *http.Server
	address   string
	functions map[string]Function
}

// serve adds or replaces a function and returns its URL.
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

// close stops serving the functions and ends calls in flight.
func (local *localFunctions) close() {
	local.mutex.Lock()
	defer local.mutex.Unlock()
	if local.server != nil {
		_ = local.server.Close()
		local.server, local.functions = nil, nil
	}
}

// ServeHTTP responds as Lambda's runtime does: with the result, or with an error's type and message.
func (local *localFunctions) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	local.mutex.Lock()
	name := strings.TrimPrefix(request.URL.Path, "/")
	function := local.functions[name]
	local.mutex.Unlock()
	if function == nil {
		http.NotFound(out, request)
		return
	}
	payload, err := io.ReadAll(request.Body)
	if err != nil {
		return // the caller has disconnected
	}
	result, err := call(request.Context(), function, payload)
	var text []byte
	if err == nil {
		text, err = json.Marshal(result)
	}
	if err != nil {
		local.failed(name, payload, err)
		out.Header().Set("X-Amz-Function-Error", "Unhandled")
		text, _ = json.Marshal(map[string]string{"errorType": fmt.Sprintf("%T", err), "errorMessage": err.Error()})
	}
	out.Header().Set("Content-Type", "application/json")
	_, _ = out.Write(text)
}

// call runs the function in a separate goroutine, because t.FailNow ends the calling goroutine. It returns a panic as a
// *PanicError.
func call(ctx context.Context, function Function, payload []byte) (result any, err error) {
	done := make(chan struct{})
	go func() {
		returned := false
		defer close(done)
		defer func() {
			if value := recover(); value != nil || !returned {
				result, err = nil, &PanicError{Value: value, Stack: string(debug.Stack())}
			}
		}()
		result, err = function(ctx, payload)
		returned = true
	}()
	<-done
	return result, err
}

package mayfly

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// HandlerFailure is a failed invocation of one of the test's own functions.
type HandlerFailure struct {
	Function string
	Err      error  // the error that the handler returned, or a *PanicError
	MayFail  bool   // whether the function was registered with MayFail
	payload  digest // hash of the payload; a retry has the same payload
	reported bool
}

type digest [sha256.Size]byte

// PanicError says that a handler panicked or ended its goroutine, as t.FailNow does.
type PanicError struct {
	Value any    // the value of the panic; nil: the handler ended its goroutine
	Stack string // the stack trace
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "the handler ended its goroutine (runtime.Goexit, t.FailNow or t.Fatal)"
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the value of the panic if the value is an error, and nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// HandlerError says that a function that was not registered with MayFail failed, or that a trigger has records for a
// function that is not registered. errors.Is and errors.As find the errors that the test's handlers returned.
type HandlerError struct {
	Failures     []HandlerFailure // failures of the test's handlers, oldest first
	GivenUp      []GivenUp        // batches that the server gave up on
	Retrying     []Unfinished     // mappings whose failing batch the server is still retrying
	Unregistered []Unfinished     // mappings that have records for a function that is not registered
}

func (e *HandlerError) Error() string {
	sentences, functions := e.ofHandlers()
	because := func(function string, err InvocationError) string {
		if slices.Contains(functions, function) || err == (InvocationError{}) {
			return "" // the handler's own error is already listed, or the error is unknown
		}
		return ", last error: " + err.String()
	}
	for _, batch := range e.GivenUp {
		sentences = append(sentences, fmt.Sprintf("Function %s on table %s: %s given up after %s (%s)%s.", batch.Function,
			batch.Table, counted(len(batch.Records)+batch.LeftOut, "record"), counted(batch.Attempts, "attempt"),
			batch.Condition, because(batch.Function, batch.Error)))
	}
	for _, mapping := range e.Retrying {
		sentences = append(sentences, fmt.Sprintf("Function %s on table %s: %s still being retried after %s%s.",
			mapping.Function, mapping.Table, counted(mapping.Retrying.Records, "record"),
			counted(mapping.Retrying.Attempts, "attempt"), because(mapping.Function, mapping.Retrying.Error)))
	}
	if len(sentences) > 0 {
		sentences = append(sentences, "If the test expects this, register the function with mayfly.MayFail().")
	}
	for _, mapping := range e.Unregistered {
		sentences = append(sentences, fmt.Sprintf("Function %s is not registered, but a trigger of table %s has records for "+
			"it. Register the function, or correct the trigger's function name.", mapping.Function, mapping.Table))
	}
	return "mayfly: " + strings.Join(sentences, " ")
}

// ofHandlers returns the names of the functions whose handlers in this process failed, and one sentence about the last
// failure of each function.
func (e *HandlerError) ofHandlers() (sentences, functions []string) {
	times, last := map[string]int{}, map[string]error{}
	for _, failure := range e.Failures {
		if times[failure.Function] == 0 {
			functions = append(functions, failure.Function)
		}
		times[failure.Function]++
		last[failure.Function] = failure.Err
	}
	for _, function := range functions {
		often := ""
		if times[function] > 1 {
			often = fmt.Sprintf(" %d times, last", times[function])
		}
		sentences = append(sentences, fmt.Sprintf("The handler of function %s failed%s with: %v.", function, often,
			last[function]))
	}
	return sentences, functions
}

func counted(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}

// Unwrap returns the errors of the handlers.
func (e *HandlerError) Unwrap() []error {
	errs := make([]error, len(e.Failures))
	for i, failure := range e.Failures {
		errs[i] = failure.Err
	}
	return errs
}

const (
	failuresMax = 1000 // failures that are kept for each world
	printedMax  = 10   // failures that are printed for each function
)

// handlerFailures records the failures of the test's handlers. The zero value is empty.
type handlerFailures struct {
	mutex   sync.Mutex
	kept    []HandlerFailure
	printed map[string]int  // number of printed failures by function
	may     map[string]bool // functions that may fail, in this process or elsewhere
}

func (failures *handlerFailures) declare(function string, mayFail bool) {
	failures.mutex.Lock()
	defer failures.mutex.Unlock()
	if failures.may == nil {
		failures.may, failures.printed = map[string]bool{}, map[string]int{}
	}
	failures.may[function] = mayFail
}

func (failures *handlerFailures) mayFail(function string) bool {
	failures.mutex.Lock()
	defer failures.mutex.Unlock()
	return failures.may[function]
}

// add records a failure, and prints it unless the function may fail. If the failure of an invocation was reported, failures
// of its retries are not reported again.
func (failures *handlerFailures) add(function string, payload []byte, err error) {
	failures.mutex.Lock()
	defer failures.mutex.Unlock()
	failure := HandlerFailure{Function: function, Err: err, MayFail: failures.may[function], payload: sha256.Sum256(payload)}
	failure.reported = slices.ContainsFunc(failures.kept, func(other HandlerFailure) bool {
		return other.reported && other.Function == function && other.payload == failure.payload
	})
	if len(failures.kept) == failuresMax {
		// Drop a failure that does not have to be reported. If every kept failure has to be reported, the test fails in any
		// case, so the new failure is not kept.
		if old := slices.IndexFunc(failures.kept, HandlerFailure.isSettled); old >= 0 {
			failures.kept = slices.Delete(failures.kept, old, old+1)
		}
	}
	if len(failures.kept) < failuresMax {
		failures.kept = append(failures.kept, failure)
	}
	if !failure.MayFail && failures.printed[function] < printedMax {
		failures.printed[function]++
		failure.print(os.Stderr, failures.printed[function] == printedMax)
	}
}

// isSettled reports whether the failure no longer has to be reported.
func (failure HandlerFailure) isSettled() bool { return failure.reported || failure.MayFail }

func (failure HandlerFailure) print(out io.Writer, last bool) {
	text := fmt.Sprintf("mayfly: the handler of function %s failed with: %v\n", failure.Function, failure.Err)
	if panicked, ok := failure.Err.(*PanicError); ok {
		text += panicked.Stack
	}
	if last {
		text += fmt.Sprintf("mayfly: further failures of function %s are not printed\n", failure.Function)
	}
	_, _ = io.WriteString(out, text)
}

// unreported returns the unexpected failures that have not been reported yet, and marks these failures as reported.
func (failures *handlerFailures) unreported() []HandlerFailure {
	failures.mutex.Lock()
	defer failures.mutex.Unlock()
	var fresh []HandlerFailure
	for i := range failures.kept {
		if failure := &failures.kept[i]; !failure.isSettled() {
			failure.reported = true
			fresh = append(fresh, *failure)
		}
	}
	return fresh
}

// HandlerFailures returns the failures of the test's handlers since the world was created, oldest first. It includes
// expected failures, and returns at most 1,000.
func (world *World) HandlerFailures() []HandlerFailure {
	world.failures.mutex.Lock()
	defer world.failures.mutex.Unlock()
	return slices.Clone(world.failures.kept)
}

const deliveryWait = 2 * time.Second

// CheckHandlers waits at most two seconds until the world's functions have processed the records written so far. It
// returns a *HandlerError if handlers of the test failed unexpectedly and no earlier call to CheckHandlers, Settle,
// Advance or Close returned the failures.
func (world *World) CheckHandlers() error {
	if world.functions.registered.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*deliveryWait)
		defer cancel()
		body := map[string]any{"seconds": 0, "settle": "triggers", "settle_seconds": deliveryWait.Seconds()}
		_ = world.Control(ctx, "POST", "/clock/advance", body, nil) // ignore the error: the server may have ended
	}
	return world.checkHandlers()
}

// checkHandlers returns a *HandlerError with the handlers' failures that no earlier call returned, or nil if earlier
// calls returned all failures.
func (world *World) checkHandlers() error {
	if failures := world.failures.unreported(); failures != nil {
		return &HandlerError{Failures: failures}
	}
	return nil
}

// checkSettled returns the *HandlerError of an advance with Settle, or nil if there are no failures to report.
func (world *World) checkSettled(advanced Advanced) error {
	failed := &HandlerError{Failures: world.failures.unreported()}
	for _, batch := range advanced.GivenUp {
		if !world.failures.mayFail(batch.Function) {
			failed.GivenUp = append(failed.GivenUp, batch)
		}
	}
	for _, mapping := range advanced.Unfinished {
		switch {
		case world.failures.mayFail(mapping.Function):
		case mapping.Retrying != nil:
			failed.Retrying = append(failed.Retrying, mapping)
		case mapping.Registered != nil && !*mapping.Registered:
			failed.Unregistered = append(failed.Unregistered, mapping)
		}
	}
	if len(failed.Failures)+len(failed.GivenUp)+len(failed.Retrying)+len(failed.Unregistered) == 0 {
		return nil
	}
	return failed
}

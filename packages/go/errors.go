package mayfly

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// BinaryError says that there is no program to start, or that it cannot be run here.
type BinaryError struct {
	Path    string // empty: none was named, and none found
	NamedBy string // "Options.Binary" or "MAYFLY_BINARY"; empty: it was found
	Err     error
}

func (e *BinaryError) Error() string {
	switch {
	case e.Path == "":
		return "mayfly: there is no mayfly to start: put the program of your platform's archive on PATH, or name it by " +
			"MAYFLY_BINARY, or name a server that runs by MAYFLY_URL"
	case e.NamedBy == "":
		return fmt.Sprintf("mayfly: %s cannot be started on %s/%s (%v): take the mayfly that was built for it", e.Path,
			runtime.GOOS, runtime.GOARCH, e.Err)
	default:
		return fmt.Sprintf("mayfly: %s names %s, which cannot be started on %s/%s (%v): name another, or none to take "+
			"the mayfly on PATH", e.NamedBy, e.Path, runtime.GOOS, runtime.GOARCH, e.Err)
	}
}

func (e *BinaryError) Unwrap() error { return e.Err }

// StartError says that the server was started and did not come to answer. It wraps context.DeadlineExceeded if time was
// up, *exec.ExitError if the server ended.
type StartError struct {
	Binary string
	Err    error
	Log    string        // the last lines of what the server logged
	After  time.Duration // how long it was waited for, if time was up; else 0
}

func (e *StartError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("mayfly: the server does not answer after %v: see its log, or allow more by "+
			"Options.StartTimeout%s", e.After, indented(e.Log))
	}
	if errors.Is(e.Err, context.Canceled) {
		return fmt.Sprintf("mayfly: the start of %s was given up (%v)", e.Binary, e.Err)
	}
	return fmt.Sprintf("mayfly: the server %s ended before it answered (%v): its log says why%s", e.Binary, e.Err,
		indented(e.Log))
}

func (e *StartError) Unwrap() error { return e.Err }

// A log as it stands behind a sentence.
func indented(log string) string {
	log = strings.TrimRight(log, "\n")
	if log == "" {
		return "; it logged nothing"
	}
	return "\n    " + strings.ReplaceAll(log, "\n", "\n    ")
}

// VersionError says that the server is of another release than this package.
type VersionError struct {
	Package, Server string
	Where           string // the server's program or address
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("mayfly: this package is %s, but the server %s is %s: take a server of %s.x (MAYFLY_BINARY, "+
		"MAYFLY_URL), or the package of %s", e.Package, e.Where, e.Server, release(e.Package), e.Server)
}

// URLError says that no Mayfly answers at the address that MAYFLY_URL or Options.URL names.
type URLError struct {
	URL string
	Err error
}

func (e *URLError) Error() string {
	return fmt.Sprintf("mayfly: no Mayfly answers at %s, which MAYFLY_URL or Options.URL names (%v): start it there, or "+
		"name none to have one started", e.URL, e.Err)
}

func (e *URLError) Unwrap() error { return e.Err }

// EndedError says that the server has ended while it was needed.
type EndedError struct {
	Err error  // the call's
	How string // "exit status 1", "signal: killed"
	Log string // the last lines of what the server logged
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("mayfly: the server has ended (%s), so %v%s", e.How, e.Err, indented(e.Log))
}

func (e *EndedError) Unwrap() error { return e.Err }

// Error is what a call of the control API was refused with.
type Error struct {
	Type    string // "ValidationException", "NotFound", "Conflict", "TimedOut", …
	Message string // a sentence
	Status  int    // of HTTP: 400, 404, 409, …
	Body    []byte // the answer, JSON
}

func (e *Error) Error() string {
	return fmt.Sprintf("mayfly: %s (%s, HTTP status %d)", e.Message, e.Type, e.Status)
}

// WaitError says that what WaitFor waited for did not happen in time. It wraps the *Error.
type WaitError struct {
	Table    string
	Happened []Record // what did happen to the item meanwhile, oldest first; at most 100
	Err      *Error
}

func (e *WaitError) Error() string {
	names := make([]string, len(e.Happened))
	for i, record := range e.Happened {
		names[i] = record.String()
	}
	if len(names) == 0 {
		return fmt.Sprintf("mayfly: %s: %s", e.Table, e.Err.Message)
	}
	return fmt.Sprintf("mayfly: %s: %s What happened: %s.", e.Table, e.Err.Message, strings.Join(names, ", "))
}

func (e *WaitError) Unwrap() error { return e.Err }

package mayfly

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// BinaryError says that no mayfly program was found, or that the program cannot run here.
type BinaryError struct {
	Path    string // empty: no path was given and no program was found
	NamedBy string // "Options.Binary" or "MAYFLY_BINARY"; empty: the package found the program
	Err     error

	platform  platform // the platform that this process runs on
	unpacked  bool     // whether the program is the bundled one
	isBundled bool     // whether there is a bundled program
}

func (e *BinaryError) Error() string {
	if isHeld(e.Err) {
		return fmt.Sprintf("%s: %s: exclude %s from virus scans, or set MAYFLY_BINARY to a program in another directory",
			e.problem(), mayBeHeld, filepath.Dir(e.Path))
	}
	archive, program := e.platform.archive()
	switch {
	case e.unpacked:
		return fmt.Sprintf("%s: allow programs to run in that directory (a file system that is mounted with noexec, or a virus "+
			"scanner, can prevent it), or set MAYFLY_BINARY to %s from %s", e.problem(), program, archive)
	case archive == "":
		return fmt.Sprintf("%s: Mayfly has no program for %s: build one from source and set MAYFLY_BINARY to it, or run Mayfly's "+
			"image or a server on another machine and set MAYFLY_URL to its address", e.problem(), e.platform)
	case e.Path == "":
		return fmt.Sprintf("%s: unpack %s from Mayfly's release and set MAYFLY_BINARY to its %s, put %[3]s on PATH, or set "+
			"MAYFLY_URL to a running server", e.problem(), archive, program)
	case e.NamedBy == "":
		return fmt.Sprintf("%s: replace it with %s from %s", e.problem(), program, archive)
	case e.isBundled:
		return fmt.Sprintf("%s: set %s to %s from %s, or unset it to use the module's own program", e.problem(), e.NamedBy,
			program, archive)
	default:
		return fmt.Sprintf("%s: set %s to %s from %s, or unset it to use the mayfly on PATH", e.problem(), e.NamedBy, program,
			archive)
	}
}

const mayBeHeld = "another process, such as a virus scanner, may have the file open"

func (e *BinaryError) problem() string {
	switch {
	case e.Path == "":
		return "mayfly: no mayfly program found"
	case e.NamedBy == "":
		return fmt.Sprintf("mayfly: cannot run %s on %s (%v)", e.Path, e.platform, e.Err)
	default:
		return fmt.Sprintf("mayfly: cannot run %s from %s on %s (%v)", e.Path, e.NamedBy, e.platform, e.Err)
	}
}

func (e *BinaryError) Unwrap() error { return e.Err }

// UnpackError says that the module's own program cannot be unpacked: no directory for it can be written, or the module's files
// are damaged.
type UnpackError struct {
	Module  string // the path and version of the module that contains the program
	Damaged bool   // whether the module's files are damaged
	Err     error  // the reasons, one for each directory that was tried

	platform platform
}

func (e *UnpackError) Error() string {
	if e.Damaged {
		return fmt.Sprintf("mayfly: the mayfly program in module %s is damaged (%v): remove the module cache with `go clean "+
			"-modcache`, and download the modules again", e.Module, e.Err)
	}
	temporary := "TMPDIR"
	if e.platform.os == "windows" {
		temporary = "TMP"
	}
	archive, program := e.platform.archive()
	return fmt.Sprintf("mayfly: cannot unpack the mayfly program of module %s (%s): set %s to a directory in which you can create "+
		"files and run programs, or set MAYFLY_BINARY to %s from %s", e.Module,
		strings.ReplaceAll(e.Err.Error(), "\n", "; "), temporary, program, archive)
}

func (e *UnpackError) Unwrap() error { return e.Err }

// StartError says that the server started but never answered. It wraps context.DeadlineExceeded if the time limit
// passed, and an *exec.ExitError if the server ended with a nonzero exit status or was killed.
type StartError struct {
	Binary string
	Err    error
	Log    string        // the last lines of the server's log
	After  time.Duration // how long Start waited, if the time limit passed; else 0
}

func (e *StartError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("mayfly: the server did not answer within %v; to wait longer, raise Options.StartTimeout%s",
			e.After, logTail(e.Log))
	}
	if errors.Is(e.Err, context.Canceled) {
		return fmt.Sprintf("mayfly: the start of %s was canceled (%v)", e.Binary, e.Err)
	}
	return fmt.Sprintf("mayfly: the server %s ended before it answered (%v)%s", e.Binary, e.Err, logTail(e.Log))
}

func (e *StartError) Unwrap() error { return e.Err }

// logTail returns the end of a log, to be appended to a message.
func logTail(log string) string {
	log = strings.TrimRight(log, "\n")
	if log == "" {
		return "; its log is empty"
	}
	return "; its log ends with:\n    " + strings.ReplaceAll(log, "\n", "\n    ")
}

// VersionError says that the server and this package are from different releases.
type VersionError struct {
	Package, Server string
	Where           string // the server's program or URL
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("mayfly: package version %s cannot use the server %s, which is version %s: use a %s.x server (set "+
		"MAYFLY_BINARY or MAYFLY_URL), or version %s of the package", e.Package, e.Where, e.Server, release(e.Package),
		e.Server)
}

// URLError says that no Mayfly server answers at MAYFLY_URL or Options.URL.
type URLError struct {
	URL string
	Err error
}

func (e *URLError) Error() string {
	return fmt.Sprintf("mayfly: no Mayfly server answers at %s (%v): start one there, or unset MAYFLY_URL and Options.URL "+
		"to let the package start one", e.URL, e.Err)
}

func (e *URLError) Unwrap() error { return e.Err }

// EndedError says that the server ended before it answered a call. An AWS SDK client wraps the
// *EndedError in another error; use errors.As to get the *EndedError.
type EndedError struct {
	Err error  // the error of the call
	How string // "exit status 1", "signal: killed"
	Log string // the last lines of the server's log
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("mayfly: the server has ended (%s)%s", e.How, logTail(e.Log))
}

func (e *EndedError) Unwrap() error { return e.Err }

// Error is the error that a call to the control API returned.
type Error struct {
	Type    string // "ValidationException", "NotFound", "Conflict", "TimedOut", …
	Message string // what went wrong, in plain words
	Status  int    // HTTP status: 400, 404, 409, …
	Body    []byte // the response, usually JSON
}

func (e *Error) Error() string {
	return fmt.Sprintf("mayfly: %s (%s, HTTP status %d)", e.Message, e.Type, e.Status)
}

// WaitError says that WaitFor timed out. It wraps the *Error that the server returned.
type WaitError struct {
	Table    string
	Happened []Record // other changes to the item, oldest first; at most 100
	Err      *Error
}

func (e *WaitError) Error() string {
	names := make([]string, len(e.Happened))
	for i, record := range e.Happened {
		names[i] = record.String()
	}
	if len(names) == 0 {
		return "mayfly: " + e.Err.Message
	}
	return fmt.Sprintf("mayfly: %s Other changes to the item: %s", e.Err.Message, strings.Join(names, ", "))
}

func (e *WaitError) Unwrap() error { return e.Err }

package mayfly

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is a running Mayfly server: one that Start started, or an existing one.
type Server struct {
	url     string
	version string
	region  string
	http    *http.Client
	log     serverLog

	command *exec.Cmd     // nil: an existing server
	ended   chan struct{} // closed when the process has ended
	endErr  error         // how the process ended; valid after `ended` is closed
	closing sync.Once
	closed  error
}

const (
	listeningPrefix = "mayfly listening on "
	healthPause     = time.Millisecond
	endWait         = 5 * time.Second
)

// Start starts a server, or uses the existing one at Options.URL or MAYFLY_URL, and returns when the server answers. A
// server that Start started exits when Close is called, or when this process exits for any reason.
//
// Errors are *BinaryError, *UnpackError, *StartError, *URLError or *VersionError. Each message says what to do.
func Start(ctx context.Context, options Options) (*Server, error) {
	return installed().start(ctx, options)
}

func (i installation) start(ctx context.Context, options Options) (*Server, error) {
	options = options.withDefaults()
	server := &Server{url: options.URL, region: options.Region, http: newHTTPClient(), ended: make(chan struct{})}
	limited, cancel := context.WithTimeout(ctx, options.StartTimeout)
	defer cancel()
	where := options.URL
	if where != "" {
		if err := server.readHealth(limited); err != nil {
			return nil, &URLError{URL: where, Err: err}
		}
	} else {
		program, err := i.find(limited, options.Binary)
		if err != nil {
			return nil, err
		}
		if err := i.launch(limited, server, program, options); err != nil {
			return nil, err
		}
		where = program.path
	}
	if err := checkVersion(i.version, server.version, where); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return server, nil
}

// newHTTPClient returns a client that ignores proxy settings and keeps enough connections for parallel tests.
func newHTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConns: 0, MaxIdleConnsPerHost: 256}}
}

// launch starts the program. It returns when the server answers, when the server has ended, or when `ctx` is done.
func (i installation) launch(ctx context.Context, server *Server, program chosenProgram, options Options) error {
	stderr, err := server.log.open()
	if err != nil {
		return fmt.Errorf("mayfly: cannot create a pipe for the server's log: %w", err)
	}
	announced := &firstLine{line: make(chan string, 1)}
	var command *exec.Cmd
	err = patiently(ctx, func() error {
		command = exec.Command(program.path, options.arguments()...)
		// The server gets pipes instead of this process's output, because `go test` waits until every process has closed that
		// output.
		command.Stdout, command.Stderr = announced, stderr
		command.WaitDelay = time.Second
		prepare(command)
		return command.Start()
	})
	if err != nil {
		server.log.close()
		return i.unusable(program, i.whyNotStarted(program, err))
	}
	server.command = command
	go func() {
		server.endErr = command.Wait()
		server.log.close()
		close(server.ended)
	}()

	err = server.awaitReady(ctx, announced.line)
	if err == nil {
		return nil
	}
	var stranger strangerError
	if errors.As(err, &stranger) {
		_ = command.Process.Kill()
		<-server.ended
		return i.unusable(program, err)
	}
	select {
	case <-server.ended:
		return &StartError{Binary: program.path, Err: server.exit(), Log: server.log.last()}
	default:
	}
	_ = command.Process.Kill()
	<-server.ended
	failure := &StartError{Binary: program.path, Err: err, Log: server.log.last()}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		failure.After = options.StartTimeout
	}
	return failure
}

// strangerError is the first line of a program that is not Mayfly.
type strangerError string

func (line strangerError) Error() string {
	return fmt.Sprintf("it is not Mayfly: its first line is %q", string(line))
}

// awaitReady waits until the server answers. The first line that the server prints contains its address.
func (server *Server) awaitReady(ctx context.Context, announced <-chan string) error {
	line, err := server.awaitFirstLine(ctx, announced)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, listeningPrefix) {
		return strangerError(line)
	}
	server.url = strings.TrimSpace(strings.TrimPrefix(line, listeningPrefix))
	for {
		err := server.readHealth(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(healthPause):
		case <-server.ended:
			return server.exit()
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// awaitFirstLine returns the program's first line. If several events have happened, a canceled context takes precedence
// over a line, and a line takes precedence over the end of the process that wrote it.
func (server *Server) awaitFirstLine(ctx context.Context, announced <-chan string) (string, error) {
	var line string
	var written bool
	select {
	case line = <-announced:
		written = true
	case <-server.ended:
		select { // any line that the process wrote has arrived, because Wait copies all output first
		case line = <-announced:
			written = true
		default:
		}
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if !written {
		return "", server.exit()
	}
	return line, nil
}

func (server *Server) readHealth(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+"/_mayfly/health", nil)
	if err != nil {
		return err
	}
	answer, err := server.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var health struct{ Status, Version string }
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return err
	}
	if json.Unmarshal(body, &health) != nil || health.Version == "" {
		return fmt.Errorf("another program answers with HTTP status %d", answer.StatusCode)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("its health status is %q", health.Status)
	}
	server.version = health.Version
	return nil
}

// exit returns an error that says how the process ended. Exit status 0 is an error too, because the server should not
// have ended.
func (server *Server) exit() error {
	if server.endErr != nil {
		return server.endErr
	}
	return errors.New("exit status 0")
}

// URL returns the server's URL, without a trailing slash: http://127.0.0.1:41234.
func (server *Server) URL() string { return server.url }

// Version returns the server's version.
func (server *Server) Version() string { return server.version }

// Log returns the last 1,000 lines of the server's log. It is empty for an existing server that Start did not start.
func (server *Server) Log() string { return server.log.since(0) }

// Ended reports whether the process has ended. It is false for an existing server that Start did not start.
func (server *Server) Ended() bool {
	select {
	case <-server.ended:
		return true
	default:
		return false
	}
}

// Close ends the server if Start started it. If the server has not ended after five seconds, Close kills it and returns an
// error. On Windows, Close kills the server at once, which loses no acknowledged write. A second call returns the result of the
// first.
func (server *Server) Close() error {
	server.closing.Do(func() {
		server.http.CloseIdleConnections()
		if server.command == nil {
			return
		}
		if server.command.Process.Signal(syscall.SIGTERM) != nil { // it has ended, or this is Windows, which has no SIGTERM
			_ = server.command.Process.Kill()
		}
		select {
		case <-server.ended:
		case <-time.After(endWait):
			_ = server.command.Process.Kill()
			<-server.ended
			server.closed = fmt.Errorf("mayfly: the server did not end within %v and was killed%s", endWait,
				logTail(server.log.last()))
		}
	})
	return server.closed
}

// firstLine is an io.Writer that sends the first line to a channel and discards the rest.
type firstLine struct {
	line  chan string // with capacity 1
	begun []byte
	told  bool
}

func (first *firstLine) Write(piece []byte) (int, error) {
	if first.told {
		return len(piece), nil
	}
	first.begun = append(first.begun, piece...)
	if end := bytes.IndexByte(first.begun, '\n'); end >= 0 {
		first.line <- strings.TrimSuffix(string(first.begun[:end]), "\r")
		first.told = true
		first.begun = nil
	}
	return len(piece), nil
}

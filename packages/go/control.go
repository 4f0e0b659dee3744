package mayfly

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Control makes any call to the control API for this world: Control(ctx, "GET", "/jobs", nil, &jobs). `path` is the
// part of the URL after /_mayfly. `body` is encoded as JSON; nil means no body. The response is decoded into `answer`
// unless `answer` is nil.
//
// Control returns an *Error if the server refuses the call, and an *EndedError if the server has ended.
func (world *World) Control(ctx context.Context, method, path string, body, answer any) error {
	request, err := world.controlRequest(ctx, method, path, body)
	if err != nil {
		return err
	}
	text, err := world.server.exchange(request)
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("mayfly: %s %s: cannot decode the response: %w", method, path, err)
	}
	return nil
}

func (world *World) controlRequest(ctx context.Context, method, path string, body any) (*http.Request, error) {
	text, err := encoded(body)
	if err != nil {
		return nil, fmt.Errorf("mayfly: %s %s: cannot encode the body: %w", method, path, err)
	}
	url := world.server.url + "/_mayfly/" + strings.TrimPrefix(path, "/")
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("mayfly: %s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Mayfly-Account", world.account)
	request.Header.Set("X-Mayfly-Region", world.Region())
	return request, nil
}

func encoded(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return json.Marshal(body)
}

// exchange sends a request and returns the body of the response. It returns an *Error if the server refuses the request.
func (server *Server) exchange(request *http.Request) ([]byte, error) {
	answer, err := server.http.Do(request)
	if err != nil {
		return nil, server.whyNot(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, server.whyNot(err)
	}
	if answer.StatusCode >= 300 {
		return nil, refusal(answer, text)
	}
	return text, nil
}

// endNoticed is how long a failed call waits for the server's process to end. A connection can break before the end of the
// server's process can be observed: usually for some milliseconds, but longer if the machine is busy.
const endNoticed = time.Second

// whyNot returns the error for a call that got no response. It is an *EndedError if the server has ended.
func (server *Server) whyNot(err error) error {
	// If the caller's context ended the call, the connection did not break, and there is nothing to wait for.
	aborted := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if server.command == nil || aborted && !server.Ended() {
		return fmt.Errorf("mayfly: %w", err)
	}
	select {
	case <-server.ended:
		return &EndedError{Err: err, How: server.exit().Error(), Log: server.log.last()}
	case <-time.After(endNoticed):
		return fmt.Errorf("mayfly: %w", err)
	}
}

// refusal converts an error response to an *Error. DynamoDB and the control API send the error's type in the body.
// Lambda sends the type in a header.
func refusal(answer *http.Response, text []byte) *Error {
	said := struct {
		Type    string `json:"__type"`
		Message string
	}{answer.Header.Get("X-Amzn-ErrorType"), ""}
	if json.Unmarshal(text, &said) != nil {
		said.Message = strings.TrimSpace(string(text))
	}
	kind := said.Type[strings.LastIndexByte(said.Type, '#')+1:]
	return &Error{Type: kind, Message: said.Message, Status: answer.StatusCode, Body: text}
}

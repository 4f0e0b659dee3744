package mayfly

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Control makes any call of the control API, about this world: Control(ctx, "GET", "/jobs", nil, &jobs). `path` is what
// stands behind /_mayfly. `body` is encoded as JSON, nil is none; the answer is decoded into `answer` unless that is nil.
//
// A refusal is an *Error, a server that has ended an *EndedError.
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
		return fmt.Errorf("mayfly: %s %s: the answer cannot be read: %w", method, path, err)
	}
	return nil
}

func (world *World) controlRequest(ctx context.Context, method, path string, body any) (*http.Request, error) {
	text, err := encoded(body)
	if err != nil {
		return nil, fmt.Errorf("mayfly: %s %s: the body cannot be written: %w", method, path, err)
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

// exchange returns the answer, if it is none of a refusal.
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

// A connection breaks a moment before its process is known to have ended.
const endNoticed = 200 * time.Millisecond

// whyNot returns an *EndedError for a call that got no answer because the server has ended.
func (server *Server) whyNot(err error) error {
	if server.command == nil {
		return fmt.Errorf("mayfly: %w", err)
	}
	select {
	case <-server.ended:
		return &EndedError{Err: err, How: server.exit().Error(), Log: server.log.last()}
	case <-time.After(endNoticed):
		return fmt.Errorf("mayfly: %w", err)
	}
}

// DynamoDB and the control API say the type in the body, Lambda in a header.
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

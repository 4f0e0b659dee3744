package mayfly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Event is a kind of change to an item.
type Event string

// By says whether a user's request or the service changed an item.
type By string

const (
	Insert Event = "INSERT"
	Modify Event = "MODIFY"
	Remove Event = "REMOVE"

	ByUser    By = "user"
	ByService By = "service" // TTL
)

// Wait selects the change that WaitFor waits for. The zero value selects any change.
type Wait struct {
	Event   Event
	By      By
	Since   time.Time     // also accepts changes since this time that are in the table's stream; zero: only changes after the call
	Timeout time.Duration // in real time, at most ten minutes; 0: five seconds
}

// WaitFor waits until the item changes, and returns the change's stream record. The key is map[string]any{"id": "1"}, a
// struct, or attribute values. If no such change happens in time, the error is a *WaitError.
func (world *World) WaitFor(ctx context.Context, table string, key any, wait Wait) (Record, error) {
	item, err := keyOf(key)
	if err != nil {
		return Record{}, err
	}
	body := map[string]any{"table": table, "key": item}
	if wait.Event != "" {
		body["event"] = wait.Event
	}
	if wait.By != "" {
		body["by"] = wait.By
	}
	if !wait.Since.IsZero() {
		body["since"] = instant(wait.Since)
	}
	if wait.Timeout != 0 {
		body["timeout_seconds"] = wait.Timeout.Seconds()
	}
	var answer struct{ Record Record }
	err = world.Control(ctx, "POST", "/await", body, &answer)
	var refused *Error
	if errors.As(err, &refused) && refused.Status == http.StatusRequestTimeout {
		var happened struct{ Records []Record }
		_ = json.Unmarshal(refused.Body, &happened)
		err = &WaitError{Table: table, Happened: happened.Records, Err: refused}
	}
	return answer.Record, err
}

// Record is a stream record. Images that the table's stream does not contain are nil.
type Record struct {
	EventID        string
	Event          Event
	By             By
	Keys           Item
	NewImage       Item
	OldImage       Item
	SequenceNumber string
	Raw            json.RawMessage // the whole record, as functions receive it
}

// UnmarshalJSON reads a record in the format that functions and WaitFor receive.
func (record *Record) UnmarshalJSON(text []byte) error {
	var wire struct {
		EventID   string `json:"eventID"`
		EventName Event  `json:"eventName"`
		DynamoDB  struct {
			Keys, NewImage, OldImage Item
			SequenceNumber           string
		} `json:"dynamodb"`
		UserIdentity *struct{} `json:"userIdentity"` // present if the service made the change
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*record = Record{EventID: wire.EventID, Event: wire.EventName, By: ByUser, Keys: wire.DynamoDB.Keys,
		NewImage: wire.DynamoDB.NewImage, OldImage: wire.DynamoDB.OldImage,
		SequenceNumber: wire.DynamoDB.SequenceNumber, Raw: append(json.RawMessage(nil), text...)}
	if wire.UserIdentity != nil {
		record.By = ByService
	}
	return nil
}

// MarshalJSON writes the record as it was read.
func (record Record) MarshalJSON() ([]byte, error) {
	if record.Raw == nil {
		return []byte("null"), nil
	}
	return record.Raw, nil
}

func (record Record) String() string { return fmt.Sprintf("%s by %s", record.Event, record.By) }

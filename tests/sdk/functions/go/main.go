// The handler of runtimes_test.py, with Lambda's own client for Go.
package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type ValueError struct{ message string }

func (e ValueError) Error() string { return e.message }

type request struct {
	events.DynamoDBEvent
	Fail string          `json:"fail"`
	Exit int             `json:"exit"`
	Echo json.RawMessage `json:"echo"`
}

func handle(ctx context.Context, event request) (any, error) {
	if event.Records != nil {
		seen, err := os.OpenFile(os.Getenv("SEEN"), os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		defer seen.Close()
		for _, record := range event.Records {
			if _, err := seen.WriteString(record.Change.Keys["id"].String() + "\n"); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	if event.Fail != "" {
		return nil, ValueError{event.Fail}
	}
	if event.Exit != 0 {
		os.Exit(event.Exit)
	}
	about, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	return map[string]any{"echo": event.Echo, "arn": about.InvokedFunctionArn, "left": time.Until(deadline).Milliseconds()}, nil
}

func main() { lambda.Start(handle) }

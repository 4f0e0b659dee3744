package mayfly

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

func TestAWSClientsReportADeadServerImmediately(t *testing.T) {
	t.Parallel()
	server := started(t, Options{})
	world := server.World()
	if err := server.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{
		"operation error DynamoDB: ListTables, ": func() error {
			_, err := world.DynamoDB.ListTables(context.Background(), &dynamodb.ListTablesInput{})
			return err
		},
		"operation error DynamoDB Streams: ListStreams, ": func() error {
			_, err := world.Streams.ListStreams(context.Background(), &dynamodbstreams.ListStreamsInput{})
			return err
		},
		"": func() error {
			_, err := world.CreateTable(context.Background(), Table{Name: "carts"})
			return err
		},
	}
	for operation, call := range calls {
		err := call()
		var ended *EndedError
		if !errors.As(err, &ended) ||
			!strings.HasPrefix(err.Error(), operation+"mayfly: the server has ended ("+killed()+"); ") {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestACanceledCallIsNotReportedAsADeadServer(t *testing.T) {
	t.Parallel()
	world := started(t, Options{}).World()
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	_, err := world.DynamoDB.ListTables(ctx, &dynamodb.ListTablesInput{})
	var ended *EndedError
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ended) {
		t.Errorf("the error is %v", err)
	}
}

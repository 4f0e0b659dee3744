package mayfly

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Trigger creates an event source mapping that calls a function with the records of the table's stream, starting with the
// oldest record. It returns the mapping's UUID. `settings` has further members of Lambda's CreateEventSourceMapping, or is
// nil:
//
//	map[string]any{"BatchSize": 10, "MaximumRetryAttempts": 2}
//
// The AWS SDK client for Lambda can do the same: lambda.NewFromConfig(world.Config()).
func (world *World) Trigger(ctx context.Context, table, function string, settings map[string]any) (string, error) {
	described, err := world.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return "", fmt.Errorf("mayfly: cannot find the stream of the table %q: %w", table, err)
	}
	if described.Table.LatestStreamArn == nil {
		return "", fmt.Errorf("mayfly: the table %q has no stream: create it with a Table.Stream other than StreamOff", table)
	}
	mapping := map[string]any{"EventSourceArn": *described.Table.LatestStreamArn, "FunctionName": function,
		"StartingPosition": "TRIM_HORIZON"}
	maps.Copy(mapping, settings)
	text, err := json.Marshal(mapping)
	if err != nil {
		return "", fmt.Errorf("mayfly: cannot encode the settings: %w", err)
	}
	request, err := world.lambdaRequest(ctx, "/2015-03-31/event-source-mappings/", text)
	if err != nil {
		return "", err
	}
	answer, err := world.server.exchange(request)
	if err != nil {
		return "", err
	}
	var created struct{ UUID string }
	err = json.Unmarshal(answer, &created)
	return created.UUID, err
}

// lambdaRequest returns a signed request, because Lambda's API takes the account from the signature.
func (world *World) lambdaRequest(ctx context.Context, path string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, "POST", world.URL()+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("mayfly: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	hash := sha256.Sum256(body)
	key := aws.Credentials{AccessKeyID: world.account, SecretAccessKey: secret}
	err = v4.NewSigner().SignHTTP(ctx, key, request, hex.EncodeToString(hash[:]), "lambda", world.Region(), time.Now())
	return request, err
}

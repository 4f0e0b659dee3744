package mayfly

import (
	"context"
	"crypto/rand"
	"math/big"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/middleware"
)

// World is a separate account with its own tables, streams and clock. A new world is empty, and its clock shows the host's
// time.
type World struct {
	// DynamoDB and Streams are AWS SDK clients with the SDK's default settings, so they retry failed calls. If the
	// server has ended, a call returns an error that wraps an *EndedError.
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client
	Clock    *Clock

	server    *Server
	account   string
	bornAt    int // position in the server's log at which the world was created
	functions localFunctions
	failures  handlerFailures
}

const secret = "any"

// World creates a world. The call sends no request, so it cannot fail.
func (server *Server) World() *World {
	world := &World{server: server, account: newAccount(), bornAt: server.log.position()}
	world.Clock = &Clock{world}
	world.functions.failed = world.failures.add
	config := world.Config()
	world.DynamoDB = dynamodb.NewFromConfig(config)
	world.Streams = dynamodbstreams.NewFromConfig(config)
	return world
}

// newAccount returns twelve random digits. The first one is not 0.
func newAccount() string {
	const least = 100_000_000_000
	number, err := rand.Int(rand.Reader, big.NewInt(9*least))
	if err != nil {
		panic("mayfly: cannot generate a random account: " + err.Error())
	}
	return number.Add(number, big.NewInt(least)).String()
}

// Config returns a configuration for other AWS SDK clients, for example for Lambda. It sets the endpoint, region and
// credentials, and ignores the user's AWS configuration.
func (world *World) Config() aws.Config {
	return aws.Config{
		Region:       world.Region(),
		BaseEndpoint: aws.String(world.URL()),
		Credentials:  credentials.NewStaticCredentialsProvider(world.account, secret, ""),
		HTTPClient:   noticesEnd{world.server},
		Retryer:      func() aws.Retryer { return retry.NewStandard(world.server.neverRetryEnded) },
		APIOptions:   []func(*middleware.Stack) error{addEndedErrors},
	}
}

// Account returns the world's account, twelve digits. It is also the access key id.
func (world *World) Account() string { return world.account }

// URL returns the server's URL, without a trailing slash.
func (world *World) URL() string { return world.server.url }

// Region returns the region for which the clients sign.
func (world *World) Region() string { return world.server.region }

// Server returns the server that hosts the world.
func (world *World) Server() *Server { return world.server }

// Environment returns the environment variables with which a child process uses this world, as NAME=VALUE:
//
//	command.Env = append(os.Environ(), world.Environment()...)
func (world *World) Environment() []string {
	return []string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + world.URL(),
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + world.URL(),
		"AWS_ACCESS_KEY_ID=" + world.account,
		"AWS_SECRET_ACCESS_KEY=" + secret,
		"AWS_REGION=" + world.Region(),
		"AWS_DEFAULT_REGION=" + world.Region(),
		"MAYFLY_URL=" + world.URL(),
		"MAYFLY_ACCOUNT=" + world.account,
	}
}

// Log returns the server's log since the world was created, without lines about other worlds. It is empty for an existing
// server that Start did not start.
func (world *World) Log() string { return world.server.log.about(world.account, world.bornAt) }

const closeWait = 5 * time.Second

// Close delivers the remaining records to functions, frees the world's memory in the server, and stops serving the world's
// functions. It returns the error of CheckHandlers: the handlers' failures that no earlier call returned.
func (world *World) Close() error {
	failed := world.CheckHandlers() // before the reset, which ends calls in flight
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = world.Reset(ctx)
	world.functions.close()
	if world.functions.registered.Load() { // a reset does not remove registrations
		registered, _ := world.Functions(ctx)
		for _, function := range registered {
			_ = world.RemoveFunction(ctx, function.Name)
		}
	}
	return failed
}

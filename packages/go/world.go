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

// World is an account with its own tables, streams and clock. It starts empty, and its clock starts at the host's time.
type World struct {
	// Clients with the defaults of AWS's SDK, which retry failed calls. If the server has ended, the error is an *EndedError.
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client
	Clock    *Clock

	server    *Server
	account   string
	bornAt    int // in the server's log
	functions localFunctions
	failures  handlerFailures
}

const secret = "any"

// World makes a new world. It sends no request, so it cannot fail.
func (server *Server) World() *World {
	world := &World{server: server, account: newAccount(), bornAt: server.log.position()}
	world.Clock = &Clock{world}
	world.functions.failed = world.failures.add
	config := world.Config()
	world.DynamoDB = dynamodb.NewFromConfig(config)
	world.Streams = dynamodbstreams.NewFromConfig(config)
	return world
}

// Twelve digits of which the first is not 0.
func newAccount() string {
	const least = 100_000_000_000
	number, err := rand.Int(rand.Reader, big.NewInt(9*least))
	if err != nil {
		panic("mayfly: there is no randomness: " + err.Error())
	}
	return number.Add(number, big.NewInt(least)).String()
}

// Config is for further clients of AWS's SDK, for example Lambda's. It sets the endpoint, region and credentials, and
// ignores the user's AWS configuration.
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

// Account is the world's account: twelve digits. It is also the access key id.
func (world *World) Account() string { return world.account }

// URL is the server's URL, without a slash at the end.
func (world *World) URL() string { return world.server.url }

// Region is the region of the clients.
func (world *World) Region() string { return world.server.region }

// Server is the server that has the world.
func (world *World) Server() *Server { return world.server }

// Environment returns the variables that let a child process use this world, as NAME=VALUE:
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

// Log returns the lines that the server has logged since the world was made, without those about other worlds. It is empty
// if the server was not started here.
func (world *World) Log() string { return world.server.log.about(world.account, world.bornAt) }

const closeWait = 5 * time.Second

// Close delivers what is left to functions, frees the world's memory on the server and stops serving its functions. It
// returns what CheckHandlers returns: failures of handlers that no earlier call reported.
func (world *World) Close() error {
	failed := world.CheckHandlers() // before the reset, which ends calls that are under way
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = world.Reset(ctx)
	world.functions.close()
	if world.functions.registered.Load() { // a reset leaves them
		registered, _ := world.Functions(ctx)
		for _, function := range registered {
			_ = world.RemoveFunction(ctx, function.Name)
		}
	}
	return failed
}

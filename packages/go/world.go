package mayfly

import (
	"context"
	"crypto/rand"
	"math/big"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// World is an account of its own: tables, streams and a clock that no other world sees. It begins empty, and its clock
// begins with the host's time.
type World struct {
	// Clients with AWS's defaults, which try again what fails.
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client
	Clock    *Clock

	server    *Server
	account   string
	bornAt    int // in the server's log
	functions localFunctions
}

const secret = "any"

// World makes a new one. It asks the server nothing, so it cannot fail.
func (server *Server) World() *World {
	world := &World{server: server, account: newAccount(), bornAt: server.log.position()}
	world.Clock = &Clock{world}
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

// Config is for further clients of AWS's SDK, Lambda's say: the endpoint, region and credentials are set, and nothing
// of the user's AWS configuration is read.
func (world *World) Config() aws.Config {
	return aws.Config{
		Region:       world.Region(),
		BaseEndpoint: aws.String(world.URL()),
		Credentials:  credentials.NewStaticCredentialsProvider(world.account, secret, ""),
		HTTPClient:   world.server.http,
	}
}

// Account is twelve digits, and the access key id that signs for the world.
func (world *World) Account() string { return world.account }

// URL is the server's, without a slash at the end.
func (world *World) URL() string { return world.server.url }

// Region is what the clients sign for.
func (world *World) Region() string { return world.server.region }

// Server is where the world is.
func (world *World) Server() *Server { return world.server }

// Environment is what a child process needs to be in this world, NAME=VALUE each, as os/exec wants it:
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

// Log returns what the server has logged since the world was made, of all worlds; empty if it was not started here.
func (world *World) Log() string { return world.server.log.since(world.bornAt) }

const closeWait = 5 * time.Second

// Close gives the server the world's memory back and ends its functions. What fails is of no consequence: the world
// cannot be met again.
func (world *World) Close() {
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
}

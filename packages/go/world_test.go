package mayfly_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestWorldsAreIsolatedAccountsWithTwelveDigitIDs(t *testing.T) {
	one, other := cartsWorld(t), mayflytest.Start(t)
	for _, world := range []*mayflytest.World{one, other} {
		if !regexp.MustCompile(`^[1-9][0-9]{11}$`).MatchString(world.Account()) {
			t.Errorf("the account is %s", world.Account())
		}
	}
	tables, err := other.DynamoDB.ListTables(ctx, &dynamodb.ListTablesInput{})
	noError(t, err)
	equal(t, len(tables.TableNames), 0)
	tables, err = one.DynamoDB.ListTables(ctx, &dynamodb.ListTablesInput{})
	noError(t, err)
	equal(t, strings.Join(tables.TableNames, " "), "carts")
}

func TestTheStreamsClientReadsTheDynamoDBClientsWrites(t *testing.T) {
	world := cartsWorld(t)
	putCart(t, world.DynamoDB, "1", new2031)
	streams, err := world.Streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: aws.String("carts")})
	noError(t, err)
	stream := streams.Streams[0].StreamArn
	described, err := world.Streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: stream})
	noError(t, err)
	iterator, err := world.Streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: stream,
		ShardId: described.StreamDescription.Shards[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon})
	noError(t, err)
	read, err := world.Streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator.ShardIterator})
	noError(t, err)
	equal(t, len(read.Records), 1)
	equal(t, read.Records[0].EventName, streamtypes.OperationTypeInsert)
}

func TestClientsIgnoreTheUsersAWSConfiguration(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")
	t.Setenv("AWS_REGION", "nowhere-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "000000000042")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	world := mayflytest.Start(t)
	world.CreateTable(carts)
	described, err := world.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("carts")})
	noError(t, err)
	equal(t, *described.Table.TableArn, "arn:aws:dynamodb:us-east-1:"+world.Account()+":table/carts")
}

func TestAChildProcessUsesTheWorldThroughItsEnvironment(t *testing.T) {
	world := cartsWorld(t)
	world.Clock.FreezeAt(new2031)
	child := exec.Command(os.Getenv("MAYFLY_BINARY"), "clock", "show")
	child.Env = world.Environment()
	shown, err := child.CombinedOutput()
	noError(t, err)
	if !strings.Contains(string(shown), "2031-01-01T00:00:00Z") {
		t.Errorf("the command shows %s", shown)
	}
	wanted := "AWS_ENDPOINT_URL_DYNAMODB=" + world.URL() + " AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + world.URL() +
		" AWS_ACCESS_KEY_ID=" + world.Account() + " AWS_SECRET_ACCESS_KEY=any AWS_REGION=us-east-1" +
		" AWS_DEFAULT_REGION=us-east-1 MAYFLY_URL=" + world.URL() + " MAYFLY_ACCOUNT=" + world.Account()
	equal(t, strings.Join(world.Environment(), " "), wanted)
}

func TestClosingAWorldDeletesItsTablesAndFunctions(t *testing.T) {
	t.Parallel()
	world := mayflytest.Server(t).World()
	_, err := world.CreateTable(ctx, carts)
	noError(t, err)
	noError(t, world.FunctionAt(ctx, "reminder", "http://127.0.0.1:9/", 0))
	noError(t, world.Close())
	tables, err := world.DynamoDB.ListTables(ctx, &dynamodb.ListTablesInput{})
	noError(t, err)
	equal(t, len(tables.TableNames), 0)
	functions, err := world.Functions(ctx)
	noError(t, err)
	equal(t, len(functions), 0)
}

func TestManyGoroutinesCanUseAWorldConcurrently(t *testing.T) {
	world := cartsWorld(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Add(1)
		go func() {
			defer all.Done()
			putCart(t, world.DynamoDB, string(rune('a'+i)), new2031)
		}()
	}
	all.Wait()
	equal(t, world.TTL("carts").Status().Pending, 20)
}

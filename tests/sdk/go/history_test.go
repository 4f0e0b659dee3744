package sdk

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Checks that concurrent histories are linearizable: some sequential order of the requests explains all responses.
// Single-item requests are checked separately for each item, and transactions are checked across their items. Some runs
// kill the server and restart it on the same directory. A request without a response may have taken effect at any later
// time, or not at all.

const absent = -1

type kind int

const (
	getOne kind = iota
	putOne
	removeOne
	exchange // writes if the item has the expected value
	addTo
	exchangeBoth // a transaction: writes both items if the first item has the expected value
	getBoth
)

type request struct {
	kind          kind
	keys          [2]int
	expected, new int
}

type response struct {
	unknown bool // whether there was no response
	refused bool // whether the condition failed
	values  [2]int
}

type state [4]int // the items' values

func step(before state, in request, out response) (bool, state) {
	after := before
	first, second := in.keys[0], in.keys[1]
	switch in.kind {
	case getOne:
		return out.unknown || out.values[0] == before[first], before
	case getBoth:
		return out.unknown || (out.values[0] == before[first] && out.values[1] == before[second]), before
	case putOne:
		after[first] = in.new
	case removeOne:
		after[first] = absent
	case addTo:
		after[first] = max(before[first], 0) + in.new
		return out.unknown || out.values[0] == after[first], after
	case exchange, exchangeBoth:
		holds := before[first] == in.expected
		if !out.unknown && out.refused == holds {
			return false, before
		}
		if !holds {
			return true, before
		}
		after[first] = in.new
		if in.kind == exchangeBoth {
			after[second] = in.new
		}
	}
	return true, after
}

var model = porcupine.Model{
	Init: func() interface{} { return state{absent, absent, absent, absent} },
	Step: func(before, in, out interface{}) (bool, interface{}) {
		right, after := step(before.(state), in.(request), out.(response))
		return right, after
	},
	DescribeOperation: func(in, out interface{}) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}

// Splits single-item requests by item, because items are independent.
func byItem(history []porcupine.Operation) [][]porcupine.Operation {
	parts := make([][]porcupine.Operation, len(state{}))
	for _, operation := range history {
		key := operation.Input.(request).keys[0]
		parts[key] = append(parts[key], operation)
	}
	return parts
}

func nameOf(number int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: strconv.Itoa(number)}}
}

func value(number int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(number)}
}

func valueOf(item map[string]types.AttributeValue) int {
	v, there := item["v"].(*types.AttributeValueMemberN)
	if !there {
		return absent
	}
	number, err := strconv.Atoi(v.Value)
	if err != nil {
		panic(err)
	}
	return number
}

func itemOf(number, v int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: strconv.Itoa(number)}, "v": value(v)}
}

// Sends a request and returns its response. Any error means that the outcome is unknown.
func ask(client *dynamodb.Client, in request) (response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	table := aws.String("items")
	condition := aws.String("v = :expected")
	expected := map[string]types.AttributeValue{":expected": value(in.expected)}
	if in.expected == absent {
		condition, expected = aws.String("attribute_not_exists(id)"), nil
	}
	var out response
	var err error
	switch in.kind {
	case getOne:
		var got *dynamodb.GetItemOutput
		got, err = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: nameOf(in.keys[0]), ConsistentRead: aws.Bool(true)})
		if err == nil {
			out.values[0] = valueOf(got.Item)
		}
	case putOne:
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: itemOf(in.keys[0], in.new)})
	case removeOne:
		_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: nameOf(in.keys[0])})
	case exchange:
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: itemOf(in.keys[0], in.new),
			ConditionExpression: condition, ExpressionAttributeValues: expected})
	case addTo:
		var got *dynamodb.UpdateItemOutput
		got, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: nameOf(in.keys[0]),
			UpdateExpression:          aws.String("ADD v :by"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":by": value(in.new)},
			ReturnValues:              types.ReturnValueUpdatedNew})
		if err == nil {
			out.values[0] = valueOf(got.Attributes)
		}
	case exchangeBoth:
		_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: table, Item: itemOf(in.keys[0], in.new), ConditionExpression: condition, ExpressionAttributeValues: expected}},
			{Put: &types.Put{TableName: table, Item: itemOf(in.keys[1], in.new)}},
		}})
	case getBoth:
		var got *dynamodb.TransactGetItemsOutput
		got, err = client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: table, Key: nameOf(in.keys[0])}},
			{Get: &types.Get{TableName: table, Key: nameOf(in.keys[1])}},
		}})
		if err == nil {
			out.values = [2]int{valueOf(got.Responses[0].Item), valueOf(got.Responses[1].Item)}
		}
	}
	var failed *types.ConditionalCheckFailedException
	var canceled *types.TransactionCanceledException
	if errors.As(err, &failed) || errors.As(err, &canceled) {
		return response{refused: true}, nil
	}
	return out, err
}

type recorder struct {
	mutex   sync.Mutex
	history []porcupine.Operation
	began   time.Time
	doubts  int // requests without a response: each is recorded under a new client, which waits forever
}

func (recorder *recorder) record(client int, in request, call int64, out response) {
	recorder.mutex.Lock()
	defer recorder.mutex.Unlock()
	operation := porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: recorder.now()}
	if out.unknown {
		recorder.doubts++
		operation.ClientId = 1000 + recorder.doubts
		operation.Return = int64(time.Hour)
	}
	recorder.history = append(recorder.history, operation)
}

func (recorder *recorder) now() int64 { return int64(time.Since(recorder.began)) }

// Runs clients until the server is killed or each client has sent `requests` requests.
func (recorder *recorder) run(t *testing.T, server *mayflyServer, clients, requests int, choose func(*rand.Rand) request,
	seed int64, killAfter time.Duration) {
	t.Helper()
	var group sync.WaitGroup
	for number := 0; number < clients; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client, random := server.dynamodb(), rand.New(rand.NewSource(seed*100+int64(number)))
			for i := 0; i < requests; i++ {
				in := choose(random)
				call := recorder.now()
				out, err := ask(client, in)
				if err != nil {
					out = response{unknown: true}
				}
				recorder.record(number, in, call, out)
				if err != nil {
					return
				}
			}
		}()
	}
	if killAfter > 0 {
		time.Sleep(killAfter)
		server.kill()
	}
	group.Wait()
}

func createItems(t *testing.T, server *mayflyServer) {
	t.Helper()
	_, err := server.dynamodb().CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:            aws.String("items"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	must(t, err)
}

func check(t *testing.T, model porcupine.Model, history []porcupine.Operation) {
	t.Helper()
	if result := porcupine.CheckOperationsTimeout(model, history, time.Minute); result != porcupine.Ok {
		for _, operation := range history {
			t.Logf("%d..%d client %d: %+v -> %+v", operation.Call, operation.Return, operation.ClientId, operation.Input, operation.Output)
		}
		t.Fatalf("no order of these requests explains their responses: %v", result)
	}
}

func single(random *rand.Rand) request {
	return request{kind: kind(random.Intn(int(addTo) + 1)), keys: [2]int{random.Intn(len(state{}))},
		expected: random.Intn(4) - 1, new: random.Intn(3)}
}

func transaction(random *rand.Rand) request {
	in := single(random)
	in.kind = []kind{getOne, putOne, exchange, exchangeBoth, exchangeBoth, getBoth, getBoth}[random.Intn(7)]
	in.keys[1] = (in.keys[0] + 1 + random.Intn(len(state{})-1)) % len(state{})
	return in
}

func TestEachItemIsLinearizableEvenAcrossKills(t *testing.T) {
	for seed := int64(1); seed <= 5; seed++ {
		directory, recorder := t.TempDir(), &recorder{began: time.Now()}
		server := startMayfly(t, "--data", directory)
		createItems(t, server)
		for kills := int64(0); kills < 3; kills++ {
			recorder.run(t, server, 6, 1000, single, seed*10+kills, time.Duration(20+seed*10)*time.Millisecond)
			server = startMayfly(t, "--data", directory)
		}
		recorder.run(t, server, 6, 60, single, seed*10+9, 0)
		perItem := model
		perItem.Partition = byItem
		check(t, perItem, recorder.history)
		t.Logf("seed %d: %d requests, %d without a response", seed, len(recorder.history), recorder.doubts)
		server.kill()
	}
}

func TestTransactionsAreLinearizableAcrossTheirItems(t *testing.T) {
	directory := t.TempDir()
	server := startMayfly(t, "--data", directory)
	createItems(t, server)
	for seed := int64(1); seed <= 60; seed++ {
		for number := range (state{}) {
			_, err := ask(server.dynamodb(), request{kind: removeOne, keys: [2]int{number}})
			must(t, err)
		}
		recorder := &recorder{began: time.Now()}
		if seed%6 == 0 {
			recorder.run(t, server, 4, 1000, transaction, seed, 15*time.Millisecond)
			server = startMayfly(t, "--data", directory)
			recorder.run(t, server, 4, 10, transaction, seed+1000, 0)
		} else {
			recorder.run(t, server, 4, 12, transaction, seed, 0)
		}
		check(t, model, recorder.history)
	}
}

// Tests the checker: it detects a history that no order explains.
func TestTheCheckerRejectsAHistoryThatNoOrderExplains(t *testing.T) {
	history := []porcupine.Operation{
		{ClientId: 0, Input: request{kind: putOne, new: 1}, Call: 0, Output: response{}, Return: 10},
		{ClientId: 1, Input: request{kind: getOne}, Call: 20, Output: response{values: [2]int{absent}}, Return: 30},
	}
	if porcupine.CheckOperations(model, history) {
		t.Fatal("the checker accepted a read that misses an acknowledged write")
	}
}

package sdk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// A Mayfly server for one test, in memory and on a free port. The program is $MAYFLY_SERVER, or the binary that
// script/build creates.
type mayflyServer struct {
	url  string
	kill func() // sends SIGKILL and waits for the exit
}

func startMayfly(t *testing.T, options ...string) *mayflyServer {
	t.Helper()
	executable := os.Getenv("MAYFLY_SERVER")
	if executable == "" {
		executable = filepath.Join("..", "..", "..", "build", "release", "mayfly")
	}
	portFile := filepath.Join(t.TempDir(), "port")
	server := exec.Command(executable, append([]string{"serve", "--log-level", "warning", "--port", "0",
		"--port-file", portFile}, options...)...)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	killed := false
	kill := func() {
		killed = true
		_ = server.Process.Kill()
		<-ended
	}
	t.Cleanup(func() {
		if killed {
			return
		}
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Errorf("mayfly exited with %v", err)
		}
	})

	// The file appears, already complete, once the server accepts requests.
	var port []byte
	eventually(t, func() bool {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("mayfly exited before it served: %v", err)
		default:
		}
		var err error
		port, err = os.ReadFile(portFile)
		return err == nil
	})
	return &mayflyServer{url: fmt.Sprintf("http://127.0.0.1:%s", strings.TrimSpace(string(port))), kill: kill}
}

func (server *mayflyServer) dynamodb() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(server.url),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		// A failed request must fail the test instead of being retried.
		RetryMaxAttempts: 1,
	})
}

func (server *mayflyServer) streams() *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint:     aws.String(server.url),
		Region:           "us-east-1",
		Credentials:      credentials.NewStaticCredentialsProvider("test", "test", ""),
		RetryMaxAttempts: 1,
	})
}

// Advances the clock. Returns the number of expired items, once all of them are deleted.
func (server *mayflyServer) advance(t *testing.T, by time.Duration) int {
	t.Helper()
	body := fmt.Sprintf(`{"seconds":%f}`, by.Seconds())
	answer, err := http.Post(server.url+"/_mayfly/clock/advance", "application/json", strings.NewReader(body))
	must(t, err)
	defer answer.Body.Close()
	var advanced struct{ Expired int }
	must(t, json.NewDecoder(answer.Body).Decode(&advanced))
	equal(t, answer.StatusCode, http.StatusOK)
	return advanced.Expired
}

// Returns as soon as `condition` is true. Fails the test after twenty seconds.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still not after 20 s")
		}
	}
}

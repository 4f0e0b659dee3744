package mayfly_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-dynamodb/mayfly-go"
	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

const childVariable = "MAYFLY_TEST_CHILD"

// TestMain runs the tests. Some tests start the test binary again as a program that only resembles Mayfly. Others start it as a
// child process, with childVariable set. Such a child starts a server, prints the server's URL, and then ends or waits to be
// killed, or it unpacks a program.
func TestMain(m *testing.M) {
	mayfly.RunFake(os.Args[1:])
	switch os.Getenv(childVariable) {
	case "unpacks":
		mayfly.UnpackFake(os.Args[1])
	case "waits":
		startAndTell()
		select {}
	case "ends":
		startAndTell()
		os.Exit(0)
	case "":
		mayflytest.Main(m)
	}
	os.Exit(1)
}

func startAndTell() {
	server, err := mayfly.Start(ctx, mayfly.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(server.URL())
}

func child(t *testing.T, what string) (process *exec.Cmd, url string) {
	t.Helper()
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), childVariable+"="+what)
	out, err := process.StdoutPipe()
	noError(t, err)
	noError(t, process.Start())
	url, err = bufio.NewReader(out).ReadString('\n')
	noError(t, err)
	url = strings.TrimSpace(url)
	if !strings.HasPrefix(url, "http://") {
		t.Fatal(url)
	}
	return process, url
}

// TestProcessesCanUnpackTheProgramAtTheSameTime starts several processes that unpack the same program into an empty directory.
func TestProcessesCanUnpackTheProgramAtTheSameTime(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "cache")
	processes := make([]*exec.Cmd, 6)
	outputs := make([]strings.Builder, len(processes))
	for i := range processes {
		processes[i] = exec.Command(os.Args[0], directory)
		processes[i].Env = append(os.Environ(), childVariable+"=unpacks")
		processes[i].Stdout, processes[i].Stderr = &outputs[i], &outputs[i]
		noError(t, processes[i].Start())
	}
	for i, process := range processes {
		if err := process.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i].String())
		}
		equal(t, outputs[i].String(), outputs[0].String())
	}
	path := strings.TrimSpace(outputs[0].String())
	unpacked, err := os.ReadFile(path)
	noError(t, err)
	original, err := os.ReadFile(os.Args[0])
	noError(t, err)
	if !bytes.Equal(unpacked, original) {
		t.Errorf("%s differs from the program", path)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	noError(t, err)
	equal(t, len(files), 1)
}

func serves(url string) bool {
	answer, err := http.Get(url + "/_mayfly/health")
	if err == nil {
		answer.Body.Close()
	}
	return err == nil
}

func endsSoon(t *testing.T, url string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); serves(url); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server at %s still runs ten seconds after its process ended", url)
		}
	}
}

func TestAServerEndsWhenTheTestProcessIsKilled(t *testing.T) {
	t.Parallel()
	process, url := child(t, "waits")
	equal(t, serves(url), true)
	noError(t, process.Process.Kill())
	_ = process.Wait()
	endsSoon(t, url)
}

func TestAServerEndsWhenItsParentProcessEndsWithoutClosingIt(t *testing.T) {
	t.Parallel()
	process, url := child(t, "ends")
	noError(t, process.Wait())
	endsSoon(t, url)
}

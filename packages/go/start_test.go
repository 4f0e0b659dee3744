package mayfly

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// program returns the path of a program in testdata. A program that the test wrote could fail to start with ETXTBSY,
// because a process that another test starts can have the file open for a moment.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// started starts a server. If the server is still running when the test ends, it is closed then.
func started(t *testing.T, options Options) *Server {
	t.Helper()
	server, err := Start(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

func serves(server *Server) bool { return server.readHealth(context.Background()) == nil }

func says(t *testing.T, err error, sentence string) {
	t.Helper()
	if err == nil || err.Error() != sentence {
		t.Errorf("got the error\n%v\nwanted\n%s", err, sentence)
	}
}

// namedBinaryError is the message about a program in Options.Binary.
func namedBinaryError(path, why string) string {
	return "mayfly: cannot run " + path + " from Options.Binary on " + runtime.GOOS + "/" + runtime.GOARCH +
		" (" + why + "): set Options.Binary to bin/mayfly from " + archive(runtime.GOOS, runtime.GOARCH) +
		", or unset it to use the mayfly on PATH"
}

func TestTheNameOfTheReleaseArchiveDependsOnTheMachine(t *testing.T) {
	t.Parallel()
	for machine, wanted := range map[[2]string]string{
		{"linux", "amd64"}:  "mayfly-" + shownVersion() + "-linux-x86_64.tar.gz",
		{"linux", "arm64"}:  "mayfly-" + shownVersion() + "-linux-aarch64.tar.gz",
		{"darwin", "arm64"}: "", {"windows", "amd64"}: "", {"linux", "riscv64"}: ""} {
		if named := archive(machine[0], machine[1]); named != wanted {
			t.Errorf("the archive for %v is %q", machine, named)
		}
	}
}

func shownVersion() string {
	if Version == unreleased {
		return "<version>"
	}
	return Version
}

func TestAServerAnswersAfterStartAndExitsOnClose(t *testing.T) {
	t.Parallel()
	server := started(t, Options{})
	if !serves(server) || !strings.HasPrefix(server.URL(), "http://127.0.0.1:") || server.Version() == "" {
		t.Errorf("version %s at %s", server.Version(), server.URL())
	}
	for range 2 {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
	if serves(server) {
		t.Error("the server still answers after Close")
	}
	if server.endErr != nil {
		t.Errorf("the server ended with %v", server.endErr)
	}
	if !strings.Contains(server.Log(), "SIGTERM: exiting") {
		t.Errorf("the server's log is %q", server.Log())
	}
}

func TestArgsArePassedToTheServerAndOverrideThePackagesOwnArguments(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	_ = listener.Close()
	server := started(t, Options{Args: []string{"--port=" + port, "--clock", "frozen", "--accounts-max", "7"}})
	if server.URL() != "http://127.0.0.1:"+port {
		t.Errorf("the server answers at %s", server.URL())
	}
	before, err := server.World().Clock.Now(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var clock struct{ Mode string }
	if err := server.World().Control(context.Background(), "GET", "/clock", nil, &clock); err != nil || clock.Mode != "frozen" {
		t.Errorf("the clock is %s at %v: %v", clock.Mode, before, err)
	}
}

func TestIfNoProgramIsFoundTheErrorSaysHowToGetOne(t *testing.T) {
	t.Setenv("MAYFLY_BINARY", "")
	t.Setenv("PATH", t.TempDir())
	_, err := Start(context.Background(), Options{})
	says(t, err, "mayfly: no mayfly program found: unpack "+archive(runtime.GOOS, runtime.GOARCH)+" from Mayfly's release and "+
		"set MAYFLY_BINARY to its bin/mayfly, put bin/mayfly on PATH, or set MAYFLY_URL to a running server")
	var none *BinaryError
	if !errors.As(err, &none) || none.Path != "" || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("the error is %#v", err)
	}
}

func TestWithoutAConfiguredBinaryTheProgramOnPATHIsUsed(t *testing.T) {
	directory := t.TempDir()
	if err := os.Symlink(os.Getenv("MAYFLY_BINARY"), filepath.Join(directory, "mayfly")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MAYFLY_BINARY", "")
	t.Setenv("PATH", directory)
	server := started(t, Options{})
	if server.command.Path != filepath.Join(directory, "mayfly") {
		t.Errorf("Start ran the program %s", server.command.Path)
	}
}

func TestThereIsNoFallbackIfAConfiguredBinaryIsMissing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "mayfly")
	t.Setenv("PATH", filepath.Dir(os.Getenv("MAYFLY_BINARY")))
	platform := runtime.GOOS + "/" + runtime.GOARCH
	sentence := func(name string) string {
		return "mayfly: cannot run " + missing + " from " + name + " on " + platform + " (no such file or directory): " +
			"set " + name + " to bin/mayfly from " + archive(runtime.GOOS, runtime.GOARCH) + ", or unset it to use the mayfly on PATH"
	}
	_, err := Start(context.Background(), Options{Binary: missing})
	says(t, err, sentence("Options.Binary"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %#v", err)
	}
	t.Setenv("MAYFLY_BINARY", missing)
	_, err = Start(context.Background(), Options{})
	says(t, err, sentence("MAYFLY_BINARY"))
}

func TestABinaryForAnotherPlatformIsRejected(t *testing.T) {
	t.Parallel()
	path := program(t, "other_platform")
	_, err := Start(context.Background(), Options{Binary: path})
	says(t, err, namedBinaryError(path, "exec format error"))
	notes := program(t, "../go.mod")
	_, err = Start(context.Background(), Options{Binary: notes})
	says(t, err, namedBinaryError(notes, "not an executable file"))
}

func TestAServerThatDoesNotAnswerInTimeIsStoppedAndReportedWithItsLog(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	begun := time.Now()
	_, err := Start(context.Background(), Options{Binary: program(t, "thinks"), Args: []string{pidFile},
		StartTimeout: 500 * time.Millisecond})
	says(t, err, "mayfly: the server did not answer within 500ms; to wait longer, raise Options.StartTimeout; its log ends "+
		"with:\n    thinking")
	var late *StartError
	if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) || late.Log != "thinking" {
		t.Errorf("the error is %#v", err)
	}
	if time.Since(begun) > 8*time.Second {
		t.Errorf("the start took %v", time.Since(begun))
	}
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() == nil {
		t.Error("the process still runs")
	}
}

func TestAServerThatEndsBeforeItAnswersIsReportedWithStatusAndLog(t *testing.T) {
	t.Parallel()
	binary := program(t, "ends")
	_, err := Start(context.Background(), Options{Binary: binary})
	says(t, err, "mayfly: the server "+binary+" ended before it answered (exit status 3); its log ends with:\n"+
		"    no table can be laid")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("the error is %#v", err)
	}
}

func TestAPortInUseIsReported(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	_, err = Start(context.Background(), Options{Args: []string{"--port", port}})
	var failure *StartError
	if !errors.As(err, &failure) || !strings.Contains(failure.Log, port) {
		t.Errorf("the error is %v", err)
	}
}

func TestTheErrorForAServerOfAnotherReleaseNamesBothVersions(t *testing.T) {
	t.Parallel()
	server := started(t, Options{})
	_, err := start(context.Background(), Options{URL: server.URL()}, "99.7.1")
	says(t, err, "mayfly: package version 99.7.1 cannot use the server "+server.URL()+", which is version "+server.Version()+
		": use a 99.7.x server (set MAYFLY_BINARY or MAYFLY_URL), or version "+server.Version()+" of the package")
	var mismatch *VersionError
	if !errors.As(err, &mismatch) || mismatch.Package != "99.7.1" || mismatch.Server != server.Version() {
		t.Errorf("the error is %#v", err)
	}
	if !serves(server) {
		t.Error("the existing server was ended")
	}
	if _, err := start(context.Background(), Options{}, "99.7.1"); !errors.As(err, &mismatch) {
		t.Errorf("the error is %v", err)
	}
}

func TestAServerWithThePackagesMajorAndMinorVersionIsAccepted(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"0.1.0", "0.1.9"}, {"1.2.3", "1.2.0"}, {"0.0.0", "7.0.0"}} {
		if err := checkVersion(pair[0], pair[1], ""); err != nil {
			t.Error(err)
		}
	}
	for _, pair := range [][2]string{{"0.1.0", "0.2.0"}, {"1.2.3", "1.3.3"}, {"1.2.3", "2.2.3"}, {"0.1.0", "0.10.0"}} {
		if checkVersion(pair[0], pair[1], "") == nil {
			t.Errorf("package version %s accepts server version %s", pair[0], pair[1])
		}
	}
}

func TestAServerAtMAYFLY_URLIsUsedAndKeepsRunning(t *testing.T) {
	server := started(t, Options{})
	t.Setenv("MAYFLY_URL", server.URL()+"/")
	t.Setenv("MAYFLY_BINARY", "/nowhere/mayfly")
	used := started(t, Options{})
	if used.URL() != server.URL() || used.command != nil {
		t.Errorf("Start uses the server at %s", used.URL())
	}
	if _, err := used.World().Clock.Freeze(context.Background()); err != nil {
		t.Error(err)
	}
	if err := used.Close(); err != nil {
		t.Error(err)
	}
	if !serves(server) {
		t.Error("Close ended the existing server")
	}
}

func TestAURLWhereNoMayflyServerAnswersIsReported(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	_ = listener.Close()
	_, err = Start(context.Background(), Options{URL: url})
	var unanswered *URLError
	if !errors.As(err, &unanswered) || !strings.HasPrefix(err.Error(), "mayfly: no Mayfly server answers at "+url+" (") {
		t.Errorf("the error is %v", err)
	}

	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	_, err = Start(context.Background(), Options{URL: other.URL})
	says(t, err, "mayfly: no Mayfly server answers at "+other.URL+" (another program answers with HTTP status 404): start one "+
		"there, or unset MAYFLY_URL and Options.URL to let the package start one")
}

func TestACallToADeadServerReportsHowTheServerEnded(t *testing.T) {
	t.Parallel()
	server := started(t, Options{})
	world := server.World()
	if err := server.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err := world.Clock.Now(context.Background())
	var ended *EndedError
	if !errors.As(err, &ended) || ended.How != "signal: killed" ||
		!strings.HasPrefix(err.Error(), "mayfly: the server has ended (signal: killed); ") {
		t.Errorf("the error is %v", err)
	}
	if !server.Ended() {
		t.Error("Ended returns false")
	}
}

func TestACanceledContextAbortsTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Start(ctx, Options{Binary: program(t, "greets")})
	if !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), " was canceled (context canceled)") {
		t.Errorf("the error is %v", err)
	}
}

func TestAStartReturnsTheContextsErrorEvenIfTheProgramHasWrittenALine(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	announced := make(chan string, 1)
	ended := make(chan struct{})
	close(ended)
	for range 100 { // each time, there is a line, the process has ended, and the context is canceled
		announced <- "hello"
		if _, err := (&Server{ended: ended}).awaitFirstLine(ctx, announced); !errors.Is(err, context.Canceled) {
			t.Fatalf("the error is %v", err)
		}
		select {
		case <-announced:
		default:
		}
	}
}

func TestTheFirstLineOfAProgramsOutputIsReadEvenIfTheProgramHasEnded(t *testing.T) {
	t.Parallel()
	announced := make(chan string, 1)
	ended := make(chan struct{})
	close(ended)
	for range 100 {
		announced <- "hello"
		line, err := (&Server{ended: ended}).awaitFirstLine(context.Background(), announced)
		if err != nil || line != "hello" {
			t.Fatalf("the line is %q, the error %v", line, err)
		}
	}
}

func TestAProgramThatPrintsAnUnexpectedFirstLineIsRejected(t *testing.T) {
	t.Parallel()
	path := program(t, "greets")
	_, err := Start(context.Background(), Options{Binary: path})
	says(t, err, namedBinaryError(path, `it is not Mayfly: its first line is "hello"`))
}

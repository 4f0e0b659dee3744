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

func answers(server *Server) bool { return server.readHealth(context.Background()) == nil }

func says(t *testing.T, err error, sentence string) {
	t.Helper()
	if err == nil || err.Error() != sentence {
		t.Errorf("got the error\n%v\nwanted\n%s", err, sentence)
	}
}

// namedBinaryError is the message about a program in Options.Binary.
func namedBinaryError(path, why string) string {
	archive, inArchive := thisPlatform.archive()
	otherwise := "the mayfly on PATH"
	if bundled != nil {
		otherwise = "the module's own program"
	}
	return "mayfly: cannot run " + path + " from Options.Binary on " + thisPlatform.String() + " (" + why +
		"): set Options.Binary to " + inArchive + " from " + archive + ", or unset it to use " + otherwise
}

func shownVersion() string {
	if Version == unreleased {
		return "<version>"
	}
	return Version
}

// killed is how a process ends that has been killed.
func killed() string {
	if runtime.GOOS == "windows" {
		return "exit status 1"
	}
	return "signal: killed"
}

func TestAServerAnswersAfterStartAndExitsOnClose(t *testing.T) {
	t.Parallel()
	server := started(t, Options{})
	if !answers(server) || !strings.HasPrefix(server.URL(), "http://127.0.0.1:") || server.Version() == "" {
		t.Errorf("version %s at %s", server.Version(), server.URL())
	}
	for range 2 {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
	if answers(server) {
		t.Error("the server still answers after Close")
	}
	if runtime.GOOS == "windows" { // which has no SIGTERM
		if server.endErr == nil || server.endErr.Error() != killed() {
			t.Errorf("the server ended with %v", server.endErr)
		}
		return
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

// withoutBundle is an installation that has no bundled program.
func withoutBundle() installation { return installation{version: Version, platform: thisPlatform} }

func TestIfNoProgramIsFoundTheErrorSaysHowToGetOne(t *testing.T) {
	withoutBinary(t)
	t.Setenv("PATH", t.TempDir())
	for p, advice := range map[platform]string{
		{"linux", "amd64"}: "unpack mayfly-" + shownVersion() + "-linux-x86_64.tar.gz from Mayfly's release and set " +
			"MAYFLY_BINARY to its bin/mayfly, put bin/mayfly on PATH, or set MAYFLY_URL to a running server",
		{"windows", "amd64"}: "unpack mayfly-" + shownVersion() + "-windows-x86_64.zip from Mayfly's release and set " +
			"MAYFLY_BINARY to its mayfly.exe, put mayfly.exe on PATH, or set MAYFLY_URL to a running server",
		{"freebsd", "riscv64"}: "Mayfly has no program for freebsd/riscv64: build one from source and set MAYFLY_BINARY to it, " +
			"or run Mayfly's image or a server on another machine and set MAYFLY_URL to its address",
	} {
		_, err := installation{version: Version, platform: p}.start(context.Background(), Options{})
		says(t, err, "mayfly: no mayfly program found: "+advice)
		var none *BinaryError
		if !errors.As(err, &none) || none.Path != "" || !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("the error is %#v", err)
		}
	}
}

func TestWithoutAConfiguredOrABundledProgramTheProgramOnPATHIsUsed(t *testing.T) {
	// The path contains a space and characters that are not ASCII.
	onPath := copied(t, os.Getenv("MAYFLY_BINARY"), filepath.Join("Programme für Tests", thisPlatform.programName()))
	withoutBinary(t)
	t.Setenv("PATH", filepath.Dir(onPath))
	server, err := withoutBundle().start(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if server.command.Path != onPath || !answers(server) {
		t.Errorf("Start ran the program %s", server.command.Path)
	}
}

// copied copies a program to a path below a new directory, and returns the copy's path.
func copied(t *testing.T, program, name string) string {
	t.Helper()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, content, name)
}

// written writes an executable file to a path below a new directory, and returns the file's path.
func written(t *testing.T, content []byte, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestThereIsNoFallbackIfAConfiguredBinaryIsMissing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "mayfly")
	t.Setenv("PATH", filepath.Dir(os.Getenv("MAYFLY_BINARY")))
	_, notFound := os.Stat(missing)
	sentence := namedBinaryError(missing, errors.Unwrap(notFound).Error())
	_, err := Start(context.Background(), Options{Binary: missing})
	says(t, err, sentence)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %#v", err)
	}
	t.Setenv("MAYFLY_BINARY", missing)
	_, err = Start(context.Background(), Options{})
	says(t, err, strings.ReplaceAll(sentence, "Options.Binary", "MAYFLY_BINARY"))
}

func TestABinaryForAnotherPlatformIsRejected(t *testing.T) {
	t.Parallel()
	other, header := platform{"darwin", "arm64"}, headers["darwin/arm64"]
	if runtime.GOOS == "darwin" {
		other, header = platform{"linux", "amd64"}, headers["linux/amd64"]
	}
	path := written(t, header, "mayfly.exe")
	_, err := Start(context.Background(), Options{Binary: path})
	says(t, err, namedBinaryError(path, "it is a program for "+other.String()))
}

func TestADirectoryIsNotAProgram(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	_, err := Start(context.Background(), Options{Binary: directory})
	says(t, err, namedBinaryError(directory, "not an executable file"))
}

func TestAServerThatDoesNotAnswerInTimeIsStoppedAndReportedWithItsLog(t *testing.T) {
	t.Parallel()
	addressFile := filepath.Join(t.TempDir(), "address")
	begun := time.Now()
	_, err := Start(context.Background(), Options{Binary: thisProgram(), Args: []string{thinks, addressFile},
		StartTimeout: 3 * time.Second})
	says(t, err, "mayfly: the server did not answer within 3s; to wait longer, raise Options.StartTimeout; its log ends "+
		"with:\n    thinking")
	var late *StartError
	if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) || late.Log != "thinking" {
		t.Errorf("the error is %#v", err)
	}
	if time.Since(begun) > 10*time.Second {
		t.Errorf("the start took %v", time.Since(begun))
	}
	address, err := os.ReadFile(addressFile)
	if err != nil {
		t.Fatal(err)
	}
	if connection, err := net.Dial("tcp", string(address)); err == nil {
		_ = connection.Close()
		t.Error("the process still runs")
	}
}

func TestAServerThatEndsBeforeItAnswersIsReportedWithStatusAndLog(t *testing.T) {
	t.Parallel()
	binary := thisProgram()
	_, err := Start(context.Background(), Options{Binary: binary, Args: []string{ends}})
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
	other := installed()
	other.version = "99.7.1"
	_, err := other.start(context.Background(), Options{URL: server.URL()})
	says(t, err, "mayfly: package version 99.7.1 cannot use the server "+server.URL()+", which is version "+server.Version()+
		": use a 99.7.x server (set MAYFLY_BINARY or MAYFLY_URL), or version "+server.Version()+" of the package")
	var mismatch *VersionError
	if !errors.As(err, &mismatch) || mismatch.Package != "99.7.1" || mismatch.Server != server.Version() {
		t.Errorf("the error is %#v", err)
	}
	if !answers(server) {
		t.Error("the existing server was ended")
	}
	if _, err := other.start(context.Background(), Options{}); !errors.As(err, &mismatch) {
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
	t.Setenv("MAYFLY_BINARY", filepath.Join(t.TempDir(), "mayfly"))
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
	if !answers(server) {
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
	if !errors.As(err, &ended) || ended.How != killed() ||
		!strings.HasPrefix(err.Error(), "mayfly: the server has ended ("+killed()+"); ") {
		t.Errorf("the error is %v", err)
	}
	if !server.Ended() {
		t.Error("Ended returns false")
	}
}

func TestACallWithACanceledContextDoesNotWaitForTheServersEnd(t *testing.T) {
	t.Parallel()
	world := started(t, Options{}).World()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	begun := time.Now()
	_, err := world.Clock.Now(ctx)
	if took := time.Since(begun); !errors.Is(err, context.Canceled) || took >= endNoticed {
		t.Errorf("after %v: %v", took, err)
	}
}

func TestACanceledContextAbortsTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Start(ctx, Options{Binary: thisProgram(), Args: []string{greets}})
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
	path := thisProgram()
	_, err := Start(context.Background(), Options{Binary: path, Args: []string{greets}})
	says(t, err, namedBinaryError(path, `it is not Mayfly: its first line is "hello"`))
}

func TestLinesThatEndAsOnWindowsAreRead(t *testing.T) {
	t.Parallel()
	server := started(t, Options{Binary: thisProgram(), Args: []string{serves}})
	if strings.HasSuffix(server.URL(), "\r") || !answers(server) || server.Log() != "ready\n" {
		t.Errorf("the server at %q has the log %q", server.URL(), server.Log())
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if server.readHealth(context.Background()) == nil {
		t.Error("the server still answers after Close")
	}
}

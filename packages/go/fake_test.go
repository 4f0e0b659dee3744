package mayfly

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// The tests use the test binary as a program that is not a Mayfly server, or not a whole one, because a script could not run on
// every platform. RunFake runs it if the arguments are those of such a program.

const (
	ends   = "--fake=ends"   // a server that ends immediately
	greets = "--fake=greets" // a program that is not Mayfly
	thinks = "--fake=thinks" // a server that never answers; it writes its address to the file that the last argument names
	serves = "--fake=serves" // a server that answers health requests, and ends its lines as Windows does
)

const fakeLifetime = time.Minute // if a test does not end the program

// RunFake does not return if the test binary has been started as one of the programs above.
func RunFake(arguments []string) {
	switch {
	case slices.Contains(arguments, ends):
		fmt.Fprintln(os.Stderr, "no table can be laid")
		os.Exit(3)
	case slices.Contains(arguments, greets):
		fmt.Println("hello")
	case slices.Contains(arguments, thinks):
		fmt.Fprintln(os.Stderr, "thinking")
		address := listen(http.NotFoundHandler())
		if err := os.WriteFile(arguments[len(arguments)-1], []byte(address), 0o600); err != nil {
			panic(err)
		}
	case slices.Contains(arguments, serves):
		health, _ := json.Marshal(map[string]string{"status": "ok", "version": Version})
		address := listen(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write(health) }))
		fmt.Fprint(os.Stderr, "ready\r\n")
		fmt.Print("mayfly listening on http://", address, "\r\n")
	default:
		return
	}
	time.Sleep(fakeLifetime)
	os.Exit(1)
}

func listen(handler http.Handler) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { _ = http.Serve(listener, handler) }()
	return listener.Addr().String()
}

func thisProgram() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// fakeBundle returns a bundled program that is the test binary.
var fakeBundle = sync.OnceValue(func() *bundledProgram {
	content, err := os.ReadFile(thisProgram())
	if err != nil {
		panic(err)
	}
	return bundle(content)
})

func bundle(content []byte) *bundledProgram {
	var compressed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&compressed, gzip.NoCompression)
	_, _ = writer.Write(content)
	_ = writer.Close()
	sum := sha256.Sum256(content)
	return &bundledProgram{module: "example.com/program@v" + Version, size: int64(len(content)),
		sha256: hex.EncodeToString(sum[:]), gzip: compressed.String()}
}

// installedWith returns an installation on this platform that unpacks a program below these directories.
func installedWith(bundled *bundledProgram, directories ...string) installation {
	var found []cache
	for _, directory := range directories {
		found = append(found, cache{directory: directory})
	}
	return installation{Version, thisPlatform, bundled, func() []cache { return found }}
}

// UnpackFake unpacks the test binary below a directory, and prints the path of the unpacked program.
func UnpackFake(directory string) {
	path, err := fakeBundle().unpacked(context.Background(), thisPlatform, []cache{{directory: directory}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(path)
	os.Exit(0)
}

// withoutBinary lets the package find the program by itself.
func withoutBinary(t *testing.T) {
	t.Helper()
	t.Setenv("MAYFLY_BINARY", "")
	t.Setenv("MAYFLY_URL", "")
}

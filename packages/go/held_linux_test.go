package mayfly

import (
	"os"
	"testing"
)

// heldProgram returns a program that cannot be started until `release` is called, because it is open for writing.
func heldProgram(t *testing.T) (path string, release func()) {
	t.Helper()
	path = copied(t, thisProgram(), "mayfly")
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	return path, func() { _ = file.Close() }
}

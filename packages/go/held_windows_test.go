package mayfly

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// heldProgram returns a program that cannot be started until `release` is called.
func heldProgram(t *testing.T) (path string, release func()) {
	t.Helper()
	path = copied(t, thisProgram(), "mayfly.exe")
	return path, held(t, path)
}

// held opens a file so that no other process can open, replace or remove it until `release` is called.
func held(t *testing.T, path string) (release func()) {
	t.Helper()
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ, 0, nil, syscall.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = syscall.CloseHandle(handle) }
}

func TestAConfiguredBinaryCanBeNamedWithoutItsExtension(t *testing.T) {
	t.Parallel()
	path := copied(t, thisProgram(), "mayfly.exe")
	server := started(t, Options{Binary: strings.TrimSuffix(path, ".exe"), Args: []string{serves}})
	if server.command.Path != path {
		t.Errorf("Start ran the program %s", server.command.Path)
	}
}

func TestADamagedProgramThatAnotherProcessHoldsIsReported(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := unpackedIn(t, bundle([]byte("a program")), directory)
	if err := os.WriteFile(path, []byte("a pr0gram"), 0o700); err != nil {
		t.Fatal(err)
	}
	defer held(t, path)()
	_, err := bundle([]byte("a program")).unpacked(context.Background(), thisPlatform, []cache{{directory: directory}})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), mayBeHeld) {
		t.Errorf("the error is %v", err)
	}
}

func TestAProgramThatRunsIsNotUnpackedAgain(t *testing.T) {
	withoutBinary(t)
	directory := t.TempDir()
	server, err := installedWith(fakeBundle(), directory).start(context.Background(), Options{Args: []string{serves}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	part, err := fakeBundle().writePart(filepath.Dir(server.command.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(part)
	if err := os.Rename(part, server.command.Path); !isHeld(err) {
		t.Errorf("a running program was replaced: %v", err)
	}
	if path := unpackedIn(t, fakeBundle(), directory); path != server.command.Path {
		t.Errorf("the program was unpacked to %s", path)
	}
}

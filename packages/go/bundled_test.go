package mayfly

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// unpackedIn unpacks a program below a directory.
func unpackedIn(t *testing.T, bundled *bundledProgram, directory string) string {
	t.Helper()
	path, err := bundled.unpacked(context.Background(), thisPlatform, []cache{{directory: directory}})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The path contains a space and characters that are not ASCII.
func TestTheBundledProgramIsUnpackedAndStarted(t *testing.T) {
	withoutBinary(t)
	t.Setenv("PATH", "")
	directory := filepath.Join(t.TempDir(), "Zwischenspeicher für Zoë", "mayfly")
	server, err := installedWith(fakeBundle(), directory).start(context.Background(), Options{Args: []string{serves}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	wanted := filepath.Join(directory, fakeBundle().sha256, thisPlatform.programName())
	if server.command.Path != wanted || !answers(server) {
		t.Errorf("Start ran the program %s", server.command.Path)
	}
}

func TestAnUnpackedProgramIsUsedAgain(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := unpackedIn(t, bundle([]byte("a program")), directory)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	again := unpackedIn(t, bundle([]byte("a program")), directory)
	after, err := os.Stat(again)
	if err != nil || !os.SameFile(before, after) || content(t, path) != "a program" {
		t.Errorf("the program was unpacked again, to %s: %v", again, err)
	}
	if other := unpackedIn(t, bundle([]byte("another program")), directory); other == path || content(t, path) != "a program" {
		t.Errorf("another program was unpacked to %s", other)
	}
}

func TestADamagedUnpackedProgramIsReplaced(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{"", "a progra", "a pr0gram", "a program and more"} {
		directory := t.TempDir()
		path := unpackedIn(t, bundle([]byte("a program")), directory)
		if err := os.WriteFile(path, []byte(damage), 0o700); err != nil {
			t.Fatal(err)
		}
		if unpackedIn(t, bundle([]byte("a program")), directory) != path || content(t, path) != "a program" {
			t.Errorf("a program with the content %q was not replaced", damage)
		}
	}
}

// In the second round, all calls find a damaged program, which they replace.
func TestConcurrentCallsUnpackTheSameCompleteProgram(t *testing.T) {
	t.Parallel()
	program := strings.Repeat("a large program ", 1<<16)
	for _, damaged := range []bool{false, true} {
		directory := t.TempDir()
		if damaged {
			path := unpackedIn(t, bundle([]byte(program)), directory)
			if err := os.WriteFile(path, []byte(program[1:]), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		var calls sync.WaitGroup
		var found [8]string
		for i := range found {
			calls.Add(1)
			go func() {
				defer calls.Done()
				path, err := bundle([]byte(program)).unpacked(context.Background(), thisPlatform, []cache{{directory: directory}})
				if err != nil {
					t.Error(err)
					return
				}
				text, err := os.ReadFile(path)
				if err != nil || string(text) != program {
					t.Errorf("after a call returned, the program was not complete: %d bytes, %v", len(text), err)
				}
				found[i] = path
			}()
		}
		calls.Wait()
		for _, path := range found {
			if path != found[0] {
				t.Errorf("calls unpacked to %s and to %s", found[0], path)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(directory, "*", "*")); len(left) != 1 {
			t.Errorf("the directory contains %v", left)
		}
	}
}

func TestADamagedModuleIsReported(t *testing.T) {
	t.Parallel()
	other := bundle([]byte("another one"))
	for why, damage := range map[string]func(*bundledProgram){
		"gzip: invalid header":                             func(b *bundledProgram) { b.gzip = "a text, not a program" },
		"unexpected EOF":                                   func(b *bundledProgram) { b.gzip = b.gzip[:len(b.gzip)-12] },
		"gzip: invalid checksum":                           func(b *bundledProgram) { b.gzip = b.gzip[:len(b.gzip)-8] + "wrongsum" },
		"its size differs from the expected 9 bytes":       func(b *bundledProgram) { b.gzip = other.gzip },
		"its SHA-256 is " + other.sha256 + ", expected 01": func(b *bundledProgram) { b.gzip, b.size, b.sha256 = other.gzip, 11, "01" },
	} {
		damaged := bundle([]byte("a program"))
		damage(damaged)
		directory := t.TempDir()
		_, err := damaged.unpacked(context.Background(), thisPlatform, []cache{{directory: directory}, {directory: t.TempDir()}})
		says(t, err, "mayfly: the mayfly program in module example.com/program@v"+Version+" is damaged ("+why+"): remove the "+
			"module cache with `go clean -modcache`, and download the modules again")
		var failure *UnpackError
		if !errors.As(err, &failure) || !failure.Damaged {
			t.Errorf("the error is %#v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(directory, "*", "*")); len(left) != 0 {
			t.Errorf("a damaged program leaves %v", left)
		}
	}
}

func TestNotMoreThanTheProgramsSizeIsUnpacked(t *testing.T) {
	t.Parallel()
	large := bundle(make([]byte, 1<<20))
	large.size = 100
	var out strings.Builder
	if err := large.decompress(&out); err == nil || out.Len() != 101 {
		t.Errorf("%d bytes were written: %v", out.Len(), err)
	}
}

// A file takes the place of a directory, because root can write a directory of any mode.
func TestIfACacheCannotBeWrittenTheNextOneIsUsed(t *testing.T) {
	t.Parallel()
	file := written(t, nil, "home")
	usable := t.TempDir()
	b := bundle([]byte("a program"))
	path, err := b.unpacked(context.Background(), thisPlatform,
		[]cache{{err: errors.New("$HOME is not defined")}, {directory: filepath.Join(file, "mayfly")}, {directory: usable}})
	if err != nil || filepath.Dir(filepath.Dir(path)) != usable {
		t.Errorf("the program was unpacked to %s: %v", path, err)
	}
}

func TestIfNoCacheCanBeWrittenTheErrorNamesEachAndTheVariablesThatHelp(t *testing.T) {
	withoutBinary(t)
	file := written(t, nil, "home")
	for p, advice := range map[platform]string{
		{"linux", "arm64"}: "set TMPDIR to a directory in which you can create files and run programs, or set MAYFLY_BINARY to " +
			"bin/mayfly from mayfly-" + shownVersion() + "-linux-arm64.tar.gz",
		{"windows", "amd64"}: "set TMP to a directory in which you can create files and run programs, or set MAYFLY_BINARY to " +
			"mayfly.exe from mayfly-" + shownVersion() + "-windows-x86_64.zip",
	} {
		caches := []cache{{err: errors.New("$HOME is not defined")}, {directory: filepath.Join(file, "mayfly", "mayfly")}}
		i := installation{Version, p, fakeBundle(), func() []cache { return caches }}
		_, err := i.start(context.Background(), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "mayfly: cannot unpack the mayfly program of module example.com/program@v"+
			Version+" ($HOME is not defined; mkdir "+file) || !strings.HasSuffix(err.Error(), "): "+advice) {
			t.Errorf("the error is %v", err)
		}
		var failure *UnpackError
		if !errors.As(err, &failure) || failure.Damaged {
			t.Errorf("the error is %#v", err)
		}
	}
}

func TestTheCachesAreBelowTheUsersCacheDirectoryAndTheDirectoryForTemporaryFiles(t *testing.T) {
	home, temporary := t.TempDir(), t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, temporary)
	}
	found := caches()
	if len(found) != 2 || found[0].err != nil || !strings.HasPrefix(found[0].directory, home) ||
		filepath.Dir(found[1].directory) != temporary {
		t.Errorf("the caches are %v", found)
	}
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	if found := caches(); found[0].err == nil || found[1].err != nil {
		t.Errorf("without a home, the caches are %v", found)
	}
}

func TestOldTemporaryFilesOfKilledProcessesAreRemoved(t *testing.T) {
	t.Parallel()
	b := bundle([]byte("a program"))
	directory := filepath.Join(t.TempDir(), "mayfly")
	own := filepath.Join(directory, b.sha256)
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(own, "1"+partSuffix), filepath.Join(own, "2"+partSuffix)
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * partAgeMax)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	unpackedIn(t, b, directory)
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the old file still exists")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("the file of a process that may still run was removed")
	}
}

func TestAnUnpackedProgramThatMustNotRunIsReportedWithItsDirectory(t *testing.T) {
	t.Parallel()
	i := installation{Version, platform{"linux", "amd64"}, fakeBundle(), nil}
	says(t, i.unusable(chosenProgram{path: "/cache/mayfly", unpacked: true}, fs.ErrPermission),
		"mayfly: cannot run /cache/mayfly on linux/amd64 (permission denied): allow programs to run in that directory (a file "+
			"system that is mounted with noexec, or a virus scanner, can prevent it), or set MAYFLY_BINARY to bin/mayfly from mayfly-"+
			shownVersion()+"-linux-x86_64.tar.gz")
}

// heldError is an error that isHeld recognizes on this platform.
func heldError() error {
	if thisPlatform.os == "windows" {
		return syscall.Errno(32)
	}
	return syscall.ETXTBSY
}

func TestAnAttemptIsRepeatedWhileAnotherProcessHasTheFileOpen(t *testing.T) {
	t.Parallel()
	attempts := 0
	err := patiently(context.Background(), func() error {
		if attempts++; attempts < 3 {
			return &fs.PathError{Op: "rename", Err: heldError()}
		}
		return nil
	})
	if err != nil || attempts != 3 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
	attempts = 0
	if err := patiently(context.Background(), func() error { attempts++; return fs.ErrExist }); err != fs.ErrExist || attempts != 1 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := patiently(ctx, heldError); !isHeld(err) {
		t.Errorf("the error is %v", err)
	}
}

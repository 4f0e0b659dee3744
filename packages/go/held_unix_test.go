//go:build unix

package mayfly

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileWithoutAnExecutableBitIsRejected(t *testing.T) {
	t.Parallel()
	path := copied(t, "README.md", "mayfly")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(context.Background(), Options{Binary: path})
	says(t, err, namedBinaryError(path, "not an executable file"))
}

func TestAnUnpackedProgramThatLostItsExecutableBitIsReplaced(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	b := bundle([]byte("a program"))
	path := unpackedIn(t, b, directory)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	unpackedIn(t, b, directory)
	if err := isProgram(path); err != nil {
		t.Error(err)
	}
}

func TestOnlyTheUserCanAccessADirectoryOfUnpackedPrograms(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "mayfly")
	if err := os.Mkdir(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	path := unpackedIn(t, bundle([]byte("a program")), directory)
	for _, each := range []string{directory, filepath.Dir(path), path} {
		if info, err := os.Stat(each); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has the mode %v: %v", each, info.Mode(), err)
		}
	}
}

func TestADirectoryThatBelongsToAnotherUserIsNotUsed(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := ownDirectory(directory, os.Geteuid()); err != nil {
		t.Error(err)
	}
	err := ownDirectory(directory, os.Geteuid()+1)
	says(t, err, "open "+directory+": belongs to another user")
	link := filepath.Join(t.TempDir(), "mayfly")
	if err := os.Symlink(directory, link); err != nil {
		t.Fatal(err)
	}
	says(t, ownDirectory(link, os.Geteuid()), "open "+link+": not a directory")
	_, err = bundle([]byte("a program")).unpacked(context.Background(), thisPlatform, []cache{{directory: link}})
	if err == nil || !strings.Contains(err.Error(), link+": not a directory") {
		t.Errorf("the error is %v", err)
	}
}

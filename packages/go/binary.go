package mayfly

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// chosenProgram is the program to start.
type chosenProgram struct {
	path     string
	namedBy  string // "Options.Binary" or "MAYFLY_BINARY"; empty: the package found the program
	unpacked bool   // whether the program is the bundled one
}

// installation is the package's version, the platform that it runs on, the program for this platform, and the directories to
// which the program can be unpacked. Tests use other values than this process's own.
type installation struct {
	version  string
	platform platform
	bundled  *bundledProgram // nil: this build of the package has no program for the platform
	caches   func() []cache
}

func installed() installation { return installation{Version, thisPlatform, bundled, caches} }

// find returns the program to start: the one that Options.Binary or MAYFLY_BINARY names, the bundled one, one next to the
// running program, or one on PATH. If the file that Options.Binary or MAYFLY_BINARY names does not exist, or the bundled
// program cannot be unpacked, find returns an error and does not look for another program.
func (i installation) find(ctx context.Context, named string) (chosenProgram, error) {
	if named != "" {
		return i.named(named, "Options.Binary")
	}
	if named = os.Getenv("MAYFLY_BINARY"); named != "" {
		return i.named(named, "MAYFLY_BINARY")
	}
	if i.bundled != nil {
		path, err := i.bundled.unpacked(ctx, i.platform, i.caches())
		return chosenProgram{path: path, unpacked: true}, err
	}
	name := thisPlatform.programName()
	if program, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(program), name); isProgram(beside) == nil {
			return chosenProgram{path: beside}, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return chosenProgram{}, i.unusable(chosenProgram{}, err)
	}
	path, err = filepath.Abs(path)
	return chosenProgram{path: path}, err
}

func (i installation) named(path, namedBy string) (chosenProgram, error) {
	whole, err := filepath.Abs(path)
	if err == nil {
		err = isProgram(whole)
	}
	if runtime.GOOS == "windows" && errors.Is(err, fs.ErrNotExist) && filepath.Ext(whole) == "" && isProgram(whole+".exe") == nil {
		whole, err = whole+".exe", nil
	}
	program := chosenProgram{path: whole, namedBy: namedBy}
	if err != nil {
		return chosenProgram{}, i.unusable(program, err)
	}
	return program, nil
}

// unusable returns the error for a program that cannot be started. The zero chosenProgram means that no program was found.
func (i installation) unusable(program chosenProgram, err error) *BinaryError {
	return &BinaryError{Path: program.path, NamedBy: program.namedBy, Err: err, unpacked: program.unpacked,
		platform: i.platform, isBundled: i.bundled != nil}
}

// whyNotStarted returns the reason why a program could not be started. It removes the errors that os/exec wraps around err,
// because they name the path, which the message already contains.
func (i installation) whyNotStarted(program chosenProgram, err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	if built, known := platformOf(program.path); known && built != i.platform {
		return &otherPlatformError{built, err}
	}
	return err
}

// otherPlatformError says that a program cannot be started because it was built for another platform.
type otherPlatformError struct {
	built platform
	err   error
}

func (e *otherPlatformError) Error() string { return "it is a program for " + e.built.String() }

func (e *otherPlatformError) Unwrap() error { return e.err }

var errNoProgram = errors.New("not an executable file")

func isProgram(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			return pathError.Err
		}
		return err
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0 {
		return errNoProgram
	}
	return nil
}

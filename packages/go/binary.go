package mayfly

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// binary is the program to start. namedBy is "Options.Binary" or "MAYFLY_BINARY", or empty if the package found the
// program.
type binary struct{ path, namedBy string }

// findBinary returns the program to start. If the file that Options.Binary or MAYFLY_BINARY names does not exist,
// findBinary returns an error and does not look for another program.
func findBinary(named string) (binary, error) {
	if named != "" {
		return namedBinary(named, "Options.Binary")
	}
	if named = os.Getenv("MAYFLY_BINARY"); named != "" {
		return namedBinary(named, "MAYFLY_BINARY")
	}
	name := "mayfly"
	if runtime.GOOS == "windows" {
		name = "mayfly.exe"
	}
	if program, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(program), name); isProgram(beside) == nil {
			return binary{path: beside}, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return binary{}, &BinaryError{Err: err}
	}
	path, err = filepath.Abs(path)
	return binary{path: path}, err
}

func namedBinary(path, namedBy string) (binary, error) {
	whole, err := filepath.Abs(path)
	if err == nil {
		err = isProgram(whole)
	}
	if err != nil {
		return binary{}, &BinaryError{Path: whole, NamedBy: namedBy, Err: err}
	}
	return binary{whole, namedBy}, nil
}

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

// archive returns the name of the release archive that contains the program for a machine, or "" if Mayfly has no
// program for that machine.
func archive(goos, goarch string) string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goarch]
	if goos != "linux" || arch == "" {
		return ""
	}
	version := Version
	if version == unreleased {
		version = "<version>"
	}
	return "mayfly-" + version + "-linux-" + arch + ".tar.gz"
}

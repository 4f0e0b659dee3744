package mayfly

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// bundledProgram is the program for this platform, which a separate module contains: one module for each GOOS and GOARCH.
// The module cache keeps no executable bits, so the program is unpacked before its first use:
//
//	CACHE/<SHA-256>/mayfly    CACHE is a directory that `caches` returns
//
// Several processes can unpack the program at the same time. Each of them writes its own temporary file and renames it, so a
// file with the final name is always complete. The size and the checksum of the file are checked before each use, which takes
// about 1 ms for each MB.
type bundledProgram struct {
	module string // the module's path and version
	size   int64
	sha256 string // in hexadecimal
	gzip   string // the compressed program
}

// bundled is the program for this platform. It is nil if this build of the package has none for this platform. The package
// script adds a file for each platform, which sets the variable.
var bundled *bundledProgram

const (
	partSuffix = ".part"
	partAgeMax = time.Hour
)

// damagedError says that the module's files differ from those that its authors published.
type damagedError struct{ why string }

func (e damagedError) Error() string { return e.why }

// cache is a directory in which programs are kept, or the reason why it is unknown.
type cache struct {
	directory string
	err       error
}

// caches returns the directories to which the program can be unpacked, best first: the user's cache directory, and a directory
// of the user in the directory for temporary files. Mayfly's package for the JVM uses the same cache directory.
func caches() []cache {
	user, err := os.UserCacheDir()
	temporary := "mayfly"
	if id := os.Geteuid(); id >= 0 { // -1: Windows, where each user has a directory for temporary files
		temporary += "-" + strconv.Itoa(id)
	}
	return []cache{{filepath.Join(user, "mayfly"), err}, {filepath.Join(os.TempDir(), temporary), nil}}
}

// unpacked returns the path of the unpacked program. It unpacks the program unless an earlier call has done so. It tries each
// directory in turn. The error is an *UnpackError.
func (b *bundledProgram) unpacked(ctx context.Context, p platform, caches []cache) (string, error) {
	var failures []error
	for _, cache := range caches {
		err := cache.err
		if err == nil {
			var path string
			if path, err = b.unpackInto(ctx, p, cache.directory); err == nil {
				return path, nil
			}
		}
		var damaged damagedError
		if errors.As(err, &damaged) { // another directory would not help
			return "", &UnpackError{Module: b.module, Damaged: true, Err: err, platform: p}
		}
		failures = append(failures, err)
	}
	return "", &UnpackError{Module: b.module, Err: errors.Join(failures...), platform: p}
}

func (b *bundledProgram) unpackInto(ctx context.Context, p platform, cache string) (string, error) {
	directory := filepath.Join(cache, b.sha256)
	if err := os.MkdirAll(filepath.Dir(cache), 0o700); err != nil {
		return "", err
	}
	for _, each := range []string{cache, directory} {
		if err := ownDirectory(each, os.Geteuid()); err != nil {
			return "", err
		}
	}
	path := filepath.Join(directory, p.programName())
	if b.matches(path) {
		return path, nil
	}
	removeOldParts(directory)
	part, err := b.writePart(directory)
	if err != nil {
		return "", err
	}
	defer os.Remove(part) // fails if the file has been renamed
	err = patiently(ctx, func() error { return os.Rename(part, path) })
	switch {
	case err == nil || b.matches(path): // another process has unpacked the same program, which may be running
		return path, nil
	case isHeld(err):
		return "", fmt.Errorf("%w; %s", err, mayBeHeld)
	}
	return "", err
}

// ownDirectory creates a directory that only the user can access. If the directory exists, ownDirectory checks that it belongs
// to the user, and removes the permissions of other users. In a directory for temporary files, another user could have
// created it. The caller passes os.Geteuid.
func ownDirectory(path string, user int) error {
	err := os.Mkdir(path, 0o700)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a directory")}
	case !belongsTo(info, user):
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("belongs to another user")}
	case info.Mode().Perm()&0o077 != 0:
		return os.Chmod(path, 0o700)
	}
	return nil
}

// matches reports whether a file is the unpacked program. A file that was damaged, for example by a full disk, does not match
// and is replaced.
func (b *bundledProgram) matches(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Size() != b.size || isProgram(path) != nil {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return err == nil && hex.EncodeToString(hash.Sum(nil)) == b.sha256
}

// writePart writes the program to a new file, and checks its size and checksum.
func (b *bundledProgram) writePart(directory string) (path string, err error) {
	file, err := os.CreateTemp(directory, "*"+partSuffix)
	if err != nil {
		return "", err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if err := b.decompress(file); err != nil {
		return "", err
	}
	return file.Name(), file.Chmod(0o700)
}

// decompress writes at most one byte more than the program's size.
func (b *bundledProgram) decompress(to io.Writer) error {
	program, err := gzip.NewReader(strings.NewReader(b.gzip))
	if err != nil {
		return damagedError{err.Error()}
	}
	hash := sha256.New()
	in := &readErrors{from: io.LimitReader(program, b.size+1)}
	written, err := io.Copy(io.MultiWriter(to, hash), in)
	switch {
	case in.err != nil:
		return damagedError{in.err.Error()}
	case err != nil:
		return err
	case written != b.size:
		return damagedError{fmt.Sprintf("its size differs from the expected %d bytes", b.size)}
	case hex.EncodeToString(hash.Sum(nil)) != b.sha256:
		return damagedError{fmt.Sprintf("its SHA-256 is %x, expected %s", hash.Sum(nil), b.sha256)}
	}
	return nil
}

// readErrors keeps the error of a read, so that it can be told from the error of a write.
type readErrors struct {
	from io.Reader
	err  error
}

func (r *readErrors) Read(buffer []byte) (int, error) {
	n, err := r.from.Read(buffer)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// removeOldParts removes the temporary files of processes that were killed while they unpacked the program.
func removeOldParts(directory string) {
	entries, _ := os.ReadDir(directory)
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasSuffix(entry.Name(), partSuffix) && time.Since(info.ModTime()) > partAgeMax {
			_ = os.Remove(filepath.Join(directory, entry.Name()))
		}
	}
}

const (
	heldMax   = 3 * time.Second
	heldPause = 20 * time.Millisecond
)

// patiently repeats an attempt while it fails because another process has the file open, for at most heldMax. A virus scanner
// reads each new program. On Linux, a child process that was just forked keeps this process's files open until it runs its
// own program.
func patiently(ctx context.Context, attempt func() error) error {
	deadline := time.Now().Add(heldMax)
	for {
		err := attempt()
		if !isHeld(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(heldPause):
		case <-ctx.Done():
			return err
		}
	}
}

//go:build unix

package mayfly

import (
	"errors"
	"io/fs"
	"os/exec"
	"syscall"
)

// isHeld reports whether an operation failed because another process has the file open.
func isHeld(err error) bool { return errors.Is(err, syscall.ETXTBSY) }

// belongsTo reports whether a user owns a file.
func belongsTo(info fs.FileInfo, user int) bool {
	status, known := info.Sys().(*syscall.Stat_t)
	return known && int64(status.Uid) == int64(user)
}

func prepare(*exec.Cmd) {}

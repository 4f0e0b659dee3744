package mayfly

import (
	"errors"
	"io/fs"
	"os/exec"
	"syscall"
)

const (
	errorSharingViolation = syscall.Errno(32)
	errorLockViolation    = syscall.Errno(33)
	createNoWindow        = 0x08000000
)

// isHeld reports whether an operation failed because another process, such as a virus scanner, has the file open. Windows
// also says ERROR_ACCESS_DENIED then, for example if the file that a rename would replace is running.
func isHeld(err error) bool {
	return errors.Is(err, errorSharingViolation) || errors.Is(err, errorLockViolation) ||
		errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}

// belongsTo always returns true. By default, Windows makes both directories for unpacked programs accessible only to their user.
func belongsTo(fs.FileInfo, int) bool { return true }

// prepare keeps Windows from opening a console window for the server when the tests run without a console, as in an IDE.
func prepare(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: createNoWindow}
}

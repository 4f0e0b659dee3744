//go:build linux || windows

package mayfly

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

func TestAFileThatAnotherProcessHoldsForTooLongIsReported(t *testing.T) {
	t.Parallel()
	path, release := heldProgram(t)
	defer release()
	_, err := Start(context.Background(), Options{Binary: path, Args: []string{serves}})
	says(t, err, fmt.Sprintf("mayfly: cannot run %s from Options.Binary on %v (%v): another process, such as a virus scanner, may "+
		"have the file open: exclude %s from virus scans, or set MAYFLY_BINARY to a program in another directory", path, thisPlatform,
		heldError(), filepath.Dir(path)))
}

func TestAFileThatAnotherProcessHoldsForAMomentIsStarted(t *testing.T) {
	t.Parallel()
	path, release := heldProgram(t)
	time.AfterFunc(200*time.Millisecond, release)
	server := started(t, Options{Binary: path, Args: []string{serves}})
	if !answers(server) {
		t.Error("the server does not answer")
	}
}

package mayfly

import (
	"fmt"
	"strings"
	"testing"
)

func TestALogKeepsItsLastThousandLines(t *testing.T) {
	t.Parallel()
	var log serverLog
	for i := range 1500 {
		fmt.Fprintf(&log, "line %d\nhal", i)
		fmt.Fprint(&log, "f\n")
	}
	lines := strings.Split(strings.TrimSpace(log.since(0)), "\n")
	if len(lines) != 1000 || lines[0] != "line 1000" || lines[999] != "half" {
		t.Errorf("it keeps %d lines from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	if last := strings.Split(log.last(), "\n"); len(last) != 20 || last[0] != "line 1490" {
		t.Errorf("the last lines are %q", last)
	}
}

func TestALogTellsWhatCameSince(t *testing.T) {
	t.Parallel()
	var log serverLog
	fmt.Fprint(&log, "one\ntwo\n")
	position := log.position()
	if since := log.since(position); since != "" {
		t.Errorf("since then there is %q", since)
	}
	fmt.Fprint(&log, "three\nfo")
	if since := log.since(position); since != "three\nfo" {
		t.Errorf("since then there is %q", since)
	}
}

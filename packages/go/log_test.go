package mayfly

import (
	"fmt"
	"strings"
	"sync"
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
		t.Errorf("the log keeps %d lines from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	if last := strings.Split(log.last(), "\n"); len(last) != 20 || last[0] != "line 1490" {
		t.Errorf("the last lines are %q", last)
	}
}

func TestALogContainsEveryLineThatWasWrittenBeforeTheRead(t *testing.T) {
	t.Parallel()
	var log serverLog
	stderr, err := log.open()
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for i := range 1000 {
		line := fmt.Sprintf("line %d", i)
		fmt.Fprintln(stderr, line)
		readers.Add(1)
		go func() {
			defer readers.Done()
			if !strings.Contains(log.since(0), line+"\n") {
				t.Errorf("%q is missing", line)
			}
		}()
		if last := log.last(); !strings.HasSuffix(last, line) {
			t.Fatalf("after %q the log ends with %q", line, last)
		}
	}
	readers.Wait()
	fmt.Fprintln(stderr, "the last line")
	log.close()
	if last := log.last(); !strings.HasSuffix(last, "line 999\nthe last line") {
		t.Errorf("the closed log ends with %q", last)
	}
}

func TestAMarkWrittenToThePipeIsNotPartOfTheLog(t *testing.T) {
	t.Parallel()
	var log serverLog
	stderr, err := log.open()
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	fmt.Fprint(stderr, "half")
	if since := log.since(0); since != "half" {
		t.Errorf("the log is %q", since)
	}
	fmt.Fprint(stderr, " line\n")
	if since := log.since(0); since != "half line\n" {
		t.Errorf("the log is %q", since)
	}
}

func TestALogReturnsTheLinesSinceAPosition(t *testing.T) {
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

func TestALogReadsLinesThatEndAsOnWindows(t *testing.T) {
	t.Parallel()
	var log serverLog
	fmt.Fprint(&log, "one\r\ntwo\r")
	fmt.Fprint(&log, "\nthree\n")
	if since := log.since(0); since != "one\ntwo\nthree\n" {
		t.Errorf("the log is %q", since)
	}
}

func TestTheLogOfAnAccountOmitsLinesAboutOtherAccounts(t *testing.T) {
	t.Parallel()
	var log serverLog
	fmt.Fprint(&log, "before of account 000000000001\n")
	position := log.position()
	lines := []string{
		"mayfly 0.1.0 keeps everything in memory\n",
		"expired 3 items of account 000000000001: carts 3\n",
		"expired 1 item of account 000000000002: carts 1\n",
		"PUT /clock {\"account 000000000002\"} of account 000000000001 -> 200\n",
		"account 0000000000011 is too long to be one\n",
	}
	fmt.Fprint(&log, strings.Join(lines, ""))
	wanted := lines[0] + lines[1] + lines[3] + lines[4]
	if about := log.about("000000000001", position); about != wanted {
		t.Errorf("the log is\n%s", about)
	}
}

package mayfly

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	logLinesMax = 1000
	logMark     = "\x00\n"
	catchUpMax  = time.Second
)

// serverLog keeps the last lines that the server wrote to stderr. A goroutine reads them from a pipe. To see everything that
// the server has written so far, a caller writes a mark to the same pipe and waits until that goroutine has read it.
type serverLog struct {
	mutex sync.Mutex
	lines []string        // the last logLinesMax lines
	begun int             // number of lines so far
	rest  []byte          // the beginning of the next line
	marks []chan struct{} // one channel for each mark in the pipe, oldest first; closed when the mark has been read

	marking sync.Mutex // keeps `marks` in the order of the marks in the pipe; locked before `mutex`
	pipe    *os.File   // the pipe's write end; nil: the log is not open
}

// open creates a pipe and returns its write end, which becomes the server's stderr. The log owns the write end. The
// goroutine that reads the pipe ends when the server has ended and the log is closed.
func (log *serverLog) open() (*os.File, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	log.pipe = writer
	go func() {
		defer reader.Close()
		_, _ = io.Copy(log, reader)
	}()
	return writer, nil
}

// close reads everything that has been written so far, and closes the pipe.
func (log *serverLog) close() {
	log.catchUp()
	log.marking.Lock()
	defer log.marking.Unlock()
	if log.pipe != nil {
		_ = log.pipe.Close()
		log.pipe = nil
	}
}

// catchUp waits at most catchUpMax until all lines that the server has written so far have been read.
func (log *serverLog) catchUp() {
	read := make(chan struct{})
	if !log.writeMark(read) {
		return
	}
	select {
	case <-read:
	case <-time.After(catchUpMax):
	}
}

func (log *serverLog) writeMark(read chan struct{}) bool {
	log.marking.Lock()
	defer log.marking.Unlock()
	if log.pipe == nil {
		return false
	}
	log.mutex.Lock()
	log.marks = append(log.marks, read)
	log.mutex.Unlock()
	_, err := log.pipe.WriteString(logMark)
	return err == nil
}

// Write adds output from the pipe. Only the goroutine that reads the pipe calls it.
func (log *serverLog) Write(piece []byte) (int, error) {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	log.rest = append(log.rest, piece...)
	for {
		end := bytes.IndexByte(log.rest, '\n')
		if end < 0 {
			return len(piece), nil
		}
		if end > 0 && log.rest[end-1] == logMark[0] && len(log.marks) > 0 { // a mark, possibly in the middle of a line
			close(log.marks[0])
			log.marks = log.marks[1:]
			log.rest = slices.Delete(log.rest, end-1, end+1)
			continue
		}
		if len(log.lines) == logLinesMax {
			log.lines = log.lines[1:]
		}
		log.lines = append(log.lines, strings.TrimSuffix(string(log.rest[:end]), "\r"))
		log.begun++
		log.rest = log.rest[end+1:]
	}
}

// position returns the position of the next line.
func (log *serverLog) position() int {
	log.catchUp()
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.begun
}

// since returns the lines from `position` on, except lines that are no longer kept.
func (log *serverLog) since(position int) string {
	log.catchUp()
	log.mutex.Lock()
	defer log.mutex.Unlock()
	first := max(0, position-(log.begun-len(log.lines)))
	if first >= len(log.lines) {
		return string(log.rest)
	}
	return strings.Join(log.lines[first:], "\n") + "\n" + string(log.rest)
}

var namesAccount = regexp.MustCompile(`\baccount (\d{12})\b`)

// about is like since, but omits the lines that name only other accounts.
func (log *serverLog) about(account string, position int) string {
	var lines strings.Builder
	for line := range strings.Lines(log.since(position)) {
		named := namesAccount.FindAllStringSubmatch(line, -1)
		if len(named) == 0 || slices.ContainsFunc(named, func(match []string) bool { return match[1] == account }) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

const lastLines = 20

// last returns the last lines, for an error message.
func (log *serverLog) last() string {
	lines := strings.Split(strings.TrimRight(log.since(0), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}

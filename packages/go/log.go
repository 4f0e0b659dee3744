package mayfly

import (
	"bytes"
	"strings"
	"sync"
)

const logLinesMax = 1000

// serverLog keeps the last lines that the server wrote on stderr. It is an io.Writer.
type serverLog struct {
	mutex sync.Mutex
	lines []string // the last logLinesMax
	begun int      // how many lines there have been
	rest  []byte   // a line that is not whole yet
}

func (log *serverLog) Write(piece []byte) (int, error) {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	log.rest = append(log.rest, piece...)
	for {
		end := bytes.IndexByte(log.rest, '\n')
		if end < 0 {
			return len(piece), nil
		}
		if len(log.lines) == logLinesMax {
			log.lines = log.lines[1:]
		}
		log.lines = append(log.lines, string(log.rest[:end]))
		log.begun++
		log.rest = log.rest[end+1:]
	}
}

// position is where the next line will be.
func (log *serverLog) position() int {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.begun
}

// since returns the lines that were written at `position` or later, as far as they are kept.
func (log *serverLog) since(position int) string {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	first := max(0, position-(log.begun-len(log.lines)))
	if first >= len(log.lines) {
		return string(log.rest)
	}
	return strings.Join(log.lines[first:], "\n") + "\n" + string(log.rest)
}

const lastLines = 20

// last returns the last lines, as an error shows them.
func (log *serverLog) last() string {
	lines := strings.Split(strings.TrimRight(log.since(0), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}

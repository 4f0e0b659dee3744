package mayfly

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const logLinesMax = 1000

// serverLog keeps the last lines that the server wrote to stderr. It is an io.Writer.
type serverLog struct {
	mutex sync.Mutex
	lines []string // the last logLinesMax
	begun int      // number of lines so far
	rest  []byte   // the beginning of the next line
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

// position is that of the next line.
func (log *serverLog) position() int {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.begun
}

// since returns the kept lines from `position` on.
func (log *serverLog) since(position int) string {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	first := max(0, position-(log.begun-len(log.lines)))
	if first >= len(log.lines) {
		return string(log.rest)
	}
	return strings.Join(log.lines[first:], "\n") + "\n" + string(log.rest)
}

var namesAccount = regexp.MustCompile(`\baccount (\d{12})\b`)

// about is since without the lines that name other accounts only.
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

package mayfly

import (
	"os"
	"strings"
	"time"
)

// Options of Start; the zero value is a server of its own, in memory, on a free port.
type Options struct {
	// The program. Empty: what MAYFLY_BINARY names, else mayfly in the directory of the running program, else mayfly
	// on PATH.
	Binary string
	// A server that runs already, http://127.0.0.1:8000: none is started then, and none ended. Empty: what MAYFLY_URL
	// names.
	URL string
	// More arguments of `mayfly serve`. What they say of --port, --accounts-max goes before what Start says.
	Args []string
	// How long the server may take until it answers. 0: ten seconds.
	StartTimeout time.Duration
	// Of worlds. Empty: us-east-1.
	Region string
}

const (
	startTimeoutDefault = 10 * time.Second
	regionDefault       = "us-east-1"
)

func (options Options) withDefaults() Options {
	if options.URL == "" {
		options.URL = os.Getenv("MAYFLY_URL")
	}
	options.URL = strings.TrimRight(options.URL, "/")
	if options.StartTimeout == 0 {
		options.StartTimeout = startTimeoutDefault
	}
	if options.Region == "" {
		options.Region = regionDefault
	}
	return options
}

// The command line. An option may be given only once, so those that the caller gives are left out.
func (options Options) arguments() []string {
	arguments := []string{"serve", "--exit-with-parent"}
	for _, own := range [][2]string{{"--port", "0"}, {"--accounts-max", "1000000"}} {
		if !options.names(own[0]) {
			arguments = append(arguments, own[0], own[1])
		}
	}
	return append(arguments, options.Args...)
}

func (options Options) names(option string) bool {
	for _, argument := range options.Args {
		if argument == option || strings.HasPrefix(argument, option+"=") {
			return true
		}
	}
	return false
}

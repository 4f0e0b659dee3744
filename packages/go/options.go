package mayfly

import (
	"os"
	"strings"
	"time"
)

// Options configure Start. With the zero value, Start starts a server that keeps its data in memory and listens on a
// free port.
type Options struct {
	// Binary is the path of the program. If it is empty, Start uses MAYFLY_BINARY if that is set, else the module's own
	// program for this platform, else mayfly in the directory of the running program, else mayfly on PATH.
	Binary string
	// URL is the URL of an existing server, such as http://127.0.0.1:8000. If it is set, Start starts no server, and
	// Close leaves the existing server running. If it is empty, Start uses MAYFLY_URL if that is set.
	URL string
	// Args are additional arguments for `mayfly serve`. They override --port and --accounts-max, which Start sets.
	Args []string
	// StartTimeout is the time limit for the start. 0 means ten seconds.
	StartTimeout time.Duration
	// Region is the region for which clients sign. Empty means us-east-1.
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

// arguments returns the command line. An option can be given only once, so the caller's options replace the defaults.
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

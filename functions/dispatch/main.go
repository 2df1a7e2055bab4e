// Command dispatch is the Lambda function that gives the sites of a fleet their turns.
// Each invocation reads the list of sites, and sends a message for each one.
package main

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/awslambda"
)

func main() {
	awslambda.Start(time.Now, func(log zerolog.Logger) (any, error) {
		h, err := newHandler(os.Getenv, time.Now, log, os.Stdout)
		return h.handle, err
	})
}

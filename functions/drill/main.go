// Command drill is the Lambda function for drills. It writes the present need to git, and
// reports the coverage of a rebuild from git.
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

// Command drill is the Lambda function for drills. It writes the present need to git, and
// reports the coverage of a rebuild from git.
package main

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/awslambda"
	"github.com/gitlatch/gitlatch/internal/chart/engine"
)

func main() {
	engine.Serve() // a child that renders a chart ends here
	awslambda.Start(time.Now, func(log zerolog.Logger) (any, error) {
		h, err := newHandler(os.Getenv, time.Now, log, os.Stdout)
		return h.handle, err
	})
}

// Command drill is the Lambda that declares what is needed now, and says what a
// rebuild from git would give.
package main

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/awslambda"
)

func main() {
	awslambda.Start(time.Now, func(log zerolog.Logger) (any, error) {
		h, err := newHandler(os.Getenv, time.Now, log, os.Stdout)
		return h.handle, err
	})
}

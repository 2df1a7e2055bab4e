// Command idle links what the function links and does nothing: what is left of a
// cold start then is what the function itself does.
package main

import (
	"runtime"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// linked keeps the linker from dropping what nobody calls here.
var linked = []any{
	config.ParseConfig, (*site.Opener).Open, site.Parts.Close, site.Tick, (*tick.Tick).Run,
	report.NewLogger, report.Log, report.New, report.Brief, lambdacontext.FromContext,
}

func main() {
	lambda.Start(func() {})
	runtime.KeepAlive(linked)
}

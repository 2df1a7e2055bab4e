// Command usage computes the monthly quantities that AWS charges for one site, from the
// requests that tests measured and from named values.
//
//	go run ./scripts/usage
//	go run ./scripts/usage -set period_minutes=1 -set lambda_seconds=0.8
//
// The measurements are in testdata/usage/requests.json. This command rewrites them:
//
//	go test ./scripts/usage -run TestRequestsAreAsMeasured -update
//
// The names are in scripts/usage/usage.yaml.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "usage:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	use, err := DefaultUsage()
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("usage", flag.ContinueOnError)
	requests := flags.String("requests", "testdata/usage/requests.json", "what was measured")
	flags.Func("set", "name=value, which replaces a value of scripts/usage/usage.yaml; may be given often", use.Set)
	flags.SetOutput(io.Discard) // main prints errors once
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		flags.PrintDefaults()
		return nil
	case err != nil:
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	measured, err := ReadRequests(*requests)
	if err != nil {
		return err
	}
	return errors.Join(NewMonth(use, measured).WriteMarkdown(out), measured.WriteText(out))
}

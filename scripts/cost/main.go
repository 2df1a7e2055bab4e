// Command cost computes the monthly cost of one site on AWS, from the requests that
// tests measured and from named prices and usage values.
//
//	go run ./scripts/cost
//	go run ./scripts/cost -set period_minutes=1 -set lambda_seconds=0.8
//	go run ./scripts/cost -prices ours.yaml -o markdown
//
// The measurements are in testdata/cost/requests.json. This command rewrites them:
//
//	go test ./scripts/cost -run TestRequestsAreAsMeasured -update
//
// The names are in scripts/cost/prices.yaml.
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
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	list, err := DefaultList()
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	requests := flags.String("requests", "testdata/cost/requests.json", "what was measured")
	format := flags.String("o", "text", "text or markdown")
	flags.Func("prices", "a file of the form of scripts/cost/prices.yaml, or of parts of it, that replaces what it has", list.Read)
	flags.Func("set", "name=value, which replaces a price or a usage; may be given often", list.Set)
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
	bill := NewBill(list, measured)
	switch *format {
	case "text":
		return errors.Join(bill.WriteText(out), measured.WriteText(out))
	case "markdown":
		return bill.WriteMarkdown(out)
	}
	return fmt.Errorf("-o %s: want text or markdown", *format)
}

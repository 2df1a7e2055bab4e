package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// caption returns the caption of the table in Markdown.
func (b Bill) caption() string {
	use := b.List.Usage
	host := "GitHub"
	if use["secrets"] == 0 {
		host = "CodeCommit"
	}
	return fmt.Sprintf("This table estimates the monthly AWS cost of one site with %d workloads and a repository on %s. In one month, gitlatch runs %s ticks (one tick every %s minutes). The estimate uses the AWS list prices of %s in %s. The prices were entered from memory on %s and have not been checked against the AWS price list. Compare each price with the current AWS price. Each amount in the table is rounded up. The number of requests was measured in tests. The estimate assumes that each tick runs for %s seconds (`lambda_seconds`). The estimate also assumes %s cold starts (`cold_starts`), and %s to KMS for each tick (`key_requests_per_tick`). %s",
		b.Workloads, host, quantity(b.Ticks), quantity(use["period_minutes"]), b.List.Region, b.List.Currency, b.List.Date,
		quantity(use["lambda_seconds"]), quantity(use["cold_starts"]), counted(use["key_requests_per_tick"], "request"), b.leftOut())
}

// leftOut describes the reductions of the bill by a free tier or a first year: the
// usage that it counts as 0, or as less.
func (b Bill) leftOut() string {
	var out []string
	for _, o := range []struct {
		name string
		full float64 // the bill counts everything from this value on
		text string
	}{
		{"dashboards", 1, "The estimate does not include the dashboard of `infra/monitoring.yaml`, because the first three dashboards of an AWS account are free. To add the cost of the dashboard to the estimate, run `make cost ARGS=\"-set dashboards=1\"`."},
		{"keys", 3, "The estimate does not include old versions of the KMS key. Each yearly rotation of the KMS key adds a key version, and AWS charges for the first two added versions. To add the cost of these key versions to the estimate, run `make cost ARGS=\"-set keys=3\"`."},
	} {
		if b.List.Usage[o.name] < o.full {
			out = append(out, o.text)
		}
	}
	if b.List.Usage["secrets"] == 0 && b.List.Usage["codecommit_users"] == 0 {
		out = append(out, "The estimate does not include the IAM role as a user of CodeCommit, because the first five CodeCommit users of an AWS account are free. To add the cost of this user to the estimate, run `make cost ARGS=\"-set codecommit_users=1\"`.")
	}
	if len(out) == 0 {
		return "The estimate does not subtract the usage that the AWS free tier covers."
	}
	return strings.Join(append(out, "The estimate does not subtract any other usage that the AWS free tier covers."), " ")
}

// WriteText writes the bill for a terminal.
func (b Bill) WriteText(to io.Writer) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s\n", strings.ReplaceAll(b.caption(), "`", ""))
	const row = "%-47s %10s   %-14s %9s\n"
	for _, p := range append([]Part{b.Site}, b.Extra...) {
		fmt.Fprintln(text)
		for _, l := range p.Lines {
			fmt.Fprintf(text, row, l.What, quantity(l.Quantity), "x "+price(l.Price), amount(l.Cents))
		}
		fmt.Fprintf(text, row, p.What, "", "", amount(p.Cents()))
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// WriteMarkdown writes the bill for a page.
func (b Bill) WriteMarkdown(to io.Writer) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s\n\n| | quantity | price | %s |\n|---|---:|---:|---:|\n", b.caption(), b.List.Currency)
	for _, p := range append([]Part{b.Site}, b.Extra...) {
		for _, l := range p.Lines {
			fmt.Fprintf(text, "| %s | %s | %s | %s |\n", l.What, quantity(l.Quantity), price(l.Price), amount(l.Cents))
		}
		fmt.Fprintf(text, "| **%s** | | | **%s** |\n", p.What, amount(p.Cents()))
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// WriteText writes the requests of a tick of each kind.
func (r Requests) WriteText(to io.Writer) error {
	text := &strings.Builder{}
	const row = "%-10s %8s %6s %7s %4s %11s %11s %7s %9s\n"
	fmt.Fprintf(text, "\nWhat a tick asks for a fleet of %d:\n\n", r.Workloads)
	fmt.Fprintf(text, row, "", "DynamoDB", "units", "units", "git", "or", "Kubernetes", "latches", "bytes")
	fmt.Fprintf(text, row, "", "calls", "read", "written", "", "CodeCommit", "requests", "written", "logged")
	for _, kind := range []Kind{Cold, Quiet, Timers, Crossing, Crossings} {
		asked := r.Kinds[kind]
		number := func(n int) string { return grouped(int64(n)) }
		fmt.Fprintf(text, row, kind, number(asked.All("dynamodb")), quantity(asked.ReadUnits), quantity(asked.WriteUnits),
			number(asked.All("git")), number(asked.All("codecommit")), number(asked.All("kubernetes")), number(asked.Latches), number(asked.LogBytes))
	}
	_, err := io.WriteString(to, text.String())
	return err
}

func amount(cents int64) string { return fmt.Sprintf("%s.%02d", grouped(cents/100), cents%100) }

func price(of float64) string { return strconv.FormatFloat(of, 'f', -1, 64) }

// quantity formats integers from 10 on, and two digits of smaller numbers.
func quantity(n float64) string {
	if rounded := math.Round(n); n >= 10 || n == rounded {
		return grouped(int64(rounded))
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 2, 64), 64)
	return price(rounded)
}

// counted returns a quantity with the name of its unit in singular or plural.
func counted(n float64, one string) string {
	if n != 1 {
		one += "s"
	}
	return quantity(n) + " " + one
}

func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// caption returns the caption of the table in Markdown.
func (m Month) caption() string {
	use := m.Usage
	host := "GitHub"
	if use["secrets"] == 0 {
		host = "CodeCommit"
	}
	return fmt.Sprintf("This table lists the quantities that AWS charges in one month for one site with %d workloads and a repository on %s. In one month, gitlatch runs %s ticks (one tick every %s minutes). The number of requests was measured in tests. The other values are assumptions: each tick runs for %s seconds (`lambda_seconds`), with %s cold starts (`cold_starts`) and %s to KMS for each tick (`key_requests_per_tick`).",
		m.Workloads, host, quantity(m.Ticks), quantity(use["period_minutes"]), quantity(use["lambda_seconds"]), quantity(use["cold_starts"]), counted(use["key_requests_per_tick"], "request"))
}

// WriteMarkdown writes the quantities for a page.
func (m Month) WriteMarkdown(to io.Writer) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s\n\n| | quantity |\n|---|---:|\n", m.caption())
	for _, p := range m.Parts {
		fmt.Fprintf(text, "| **%s** | |\n", p.What)
		for _, l := range p.Lines {
			fmt.Fprintf(text, "| %s | %s |\n", l.What, quantity(l.Quantity))
		}
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

// quantity formats integers from 10 on, and two digits of smaller numbers.
func quantity(n float64) string {
	if rounded := math.Round(n); n >= 10 || n == rounded {
		return grouped(int64(rounded))
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 2, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
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

// Package page renders reports that users open in a browser. A report is one file. It
// sends no request, and works from a disk, a bucket or an email.
//
// A page is static except for one block of JSON, the document of the report. A script in
// the page shows the document as text and never as markup, so a name from a cluster
// cannot become markup. The content security policy of the page allows only this script,
// and no requests.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// Drill returns the report of a drill as a page.
func Drill(d drill.Document) ([]byte, error) { return with(drillFrame, d) }

// Backtest returns the report of a backtest as a page. It draws charts if the document
// has pictures.
func Backtest(d backtest.Document) ([]byte, error) { return with(backtestFrame, d) }

//go:embed static
var static embed.FS

var (
	drillFrame    = sync.OnceValue(func() frame { return assemble("drill", "growth.js", "drill.js") })
	backtestFrame = sync.OnceValue(func() frame { return assemble("backtest", "plot.js", "backtest.js") })
)

// A frame is the part of a page before and after its block of JSON.
type frame struct{ before, after []byte }

// with puts a document into a frame. json.Marshal escapes <, > and &, and the two line
// ends that JavaScript has and JSON does not. So no text can end the block.
func with(f func() frame, document any) ([]byte, error) {
	block, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write the document of a page: %w", err)
	}
	return bytes.Join([][]byte{f().before, block, f().after}, nil), nil
}

// The parts that all pages share, in their order in the page.
var (
	styles  = []string{"base.css", "parts.css", "print.css"}
	scripts = []string{"text.js", "node.js", "facts.js", "table.js", "axis.js", "bars.js"}
)

// assemble assembles a kind of page. own are the scripts that only this kind has.
func assemble(kind string, own ...string) frame {
	style := joined(styles)
	script := "(() => {\n'use strict'\n" + joined(slices.Concat(scripts, own)) + "})()\n"
	security := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src " + hash(script) + "; style-src " + hash(style)
	var b bytes.Buffer
	fmt.Fprintf(&b, head, security, "gitlatch "+kind, icon, style)
	b.WriteString(part(kind + ".html"))
	b.WriteString("<script type=\"application/json\" id=\"document\">")
	return frame{b.Bytes(), []byte("</script>\n<script>" + script + "</script>\n</body>\n</html>\n")}
}

const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>%s</title>
<link rel="icon" href="%s">
<style>%s</style>
</head>
<body>
<noscript><p>This report requires JavaScript, which your browser does not run. For the same data, use -o json.</p></noscript>
`

// icon saves the browser the request for an icon.
const icon = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230b6e6e' d='M1 15V11h4V7h4V3h6v12z'/%3E%3C/svg%3E"

// hash returns the hash of an inline script or style for the content security policy.
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func joined(names []string) string { return strings.Join(lists.Map(names, part), "") }

func part(name string) string {
	text, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // embedded, and named above
	}
	return string(text)
}

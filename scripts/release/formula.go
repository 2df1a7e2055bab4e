package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"
)

//go:embed formula.rb.tmpl
var formula string

// formula returns the Homebrew formula, which installs the archive of the platform.
func (r Release) formula(sums map[platform]string) ([]byte, error) {
	archive := func(goos, goarch string) (string, error) {
		p := platform{goos, goarch}
		if sums[p] == "" {
			return "", fmt.Errorf("programs/%s_%s is missing", goos, goarch)
		}
		return r.archive(p), nil
	}
	functions := template.FuncMap{
		"archive": archive,
		"sum":     func(goos, goarch string) string { return sums[platform{goos, goarch}] },
	}
	var text bytes.Buffer
	err := template.Must(template.New("formula").Funcs(functions).Parse(formula)).Execute(&text, map[string]string{"Tag": r.Tag, "Version": r.version()})
	return text.Bytes(), err
}

package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// Forms are the ways in which a command says what it found, by the names that -o
// takes.
type forms[T any] map[string]func(T, io.Writer, term.Style) error

// An output is the form that a person chose.
type output[T any] struct {
	forms[T]
	chosen string
}

// register adds the flag; the first of the names is its default.
func (o *output[T]) register(c *cobra.Command, all forms[T], names ...string) {
	o.forms = all
	last := len(names) - 1
	c.Flags().StringVarP(&o.chosen, "output", "o", names[0], strings.Join(names[:last], ", ")+" or "+names[last])
}

// check says what is wrong with the form chosen.
func (o *output[T]) check() error {
	if _, ok := o.forms[o.chosen]; !ok {
		return fmt.Errorf("--output: must be one of %s, got %q", strings.Join(slices.Sorted(maps.Keys(o.forms)), ", "), o.chosen)
	}
	return nil
}

// write writes a document in the form chosen.
func (o *output[T]) write(env Env, document T) error {
	return o.forms[o.chosen](document, env.Out, tty.StyleFor(env.Out, env.Getenv))
}

func inJSON[T any](document T, out io.Writer, _ term.Style) error { return term.JSON(out, document) }

func inYAML[T any](document T, out io.Writer, _ term.Style) error {
	return written(yaml.Marshal(document))(out)
}

// inHTML is a form that is a page for a browser.
func inHTML[T any](page func(T) ([]byte, error)) func(T, io.Writer, term.Style) error {
	return func(document T, out io.Writer, _ term.Style) error { return written(page(document))(out) }
}

// written writes what was made, where that did not fail.
func written(text []byte, err error) func(io.Writer) error {
	return func(out io.Writer) error {
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
}

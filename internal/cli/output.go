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

// A form is a way in which a command says what it found.
type form[T any] func(T, io.Writer, term.Style) error

// An output is the form that a person chose, as the value of a flag.
type output[T any] struct {
	forms  map[string]form[T]
	names  []string // the first is the default
	chosen string
}

// register adds the flag -o: table, json, yaml, and forms that only some commands
// have.
func (o *output[T]) register(c *cobra.Command, table form[T], more map[string]form[T]) {
	o.forms = map[string]form[T]{"table": table, "json": inJSON[T], "yaml": inYAML[T]}
	maps.Copy(o.forms, more)
	o.names = slices.Concat([]string{"table", "json", "yaml"}, slices.Sorted(maps.Keys(more)))
	o.chosen = o.names[0]
	c.Flags().VarP(o, "output", "o", "output format: "+strings.Join(o.names[:len(o.names)-1], ", ")+" or "+o.names[len(o.names)-1])
	offer(c, "output", o.names)
}

// offer completes a flag by some words.
func offer(c *cobra.Command, flag string, words []string) {
	complete(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func complete(c *cobra.Command, flag string, by cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err) // the command has no such flag
	}
}

// Set chooses a form.
func (o *output[T]) Set(name string) error {
	if o.forms[name] == nil {
		return fmt.Errorf("must be one of %s", strings.Join(o.names, ", "))
	}
	o.chosen = name
	return nil
}

// String is the form that was chosen.
func (o *output[T]) String() string { return o.chosen }

// Type is what help calls the value.
func (o *output[T]) Type() string { return "form" }

// write writes a document in the form chosen.
func (o *output[T]) write(env Env, document T) error {
	return o.forms[o.chosen](document, env.Out, tty.StyleFor(env.Out, env.Getenv))
}

func inJSON[T any](document T, out io.Writer, _ term.Style) error { return term.JSON(out, document) }

func inYAML[T any](document T, out io.Writer, _ term.Style) error {
	return written(yaml.Marshal(document))(out)
}

// inHTML is a form that is a page for a browser.
func inHTML[T any](page func(T) ([]byte, error)) form[T] {
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

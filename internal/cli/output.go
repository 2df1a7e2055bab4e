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

// A form prints the result of a command in one format.
type form[T any] func(T, io.Writer, term.Style) error

// An output is the value of the flag -o.
type output[T any] struct {
	forms  map[string]form[T]
	names  []string // the first is the default
	chosen string
}

// register adds the flag -o with the formats table, json and yaml, and more formats of
// this command.
func (o *output[T]) register(c *cobra.Command, table form[T], more map[string]form[T]) {
	o.forms = map[string]form[T]{"table": table, "json": inJSON[T], "yaml": inYAML[T]}
	maps.Copy(o.forms, more)
	o.names = slices.Concat([]string{"table", "json", "yaml"}, slices.Sorted(maps.Keys(more)))
	o.chosen = o.names[0]
	c.PersistentFlags().VarP(o, "output", "o", strings.Join(o.names, ", "))
	offer(c, "output", o.names)
}

// offer completes a flag with words.
func offer(c *cobra.Command, flag string, words []string) {
	complete(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func complete(c *cobra.Command, flag string, by cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err) // the command has no such flag
	}
}

// Set chooses a format by its name.
func (o *output[T]) Set(name string) error {
	if o.forms[name] == nil {
		return fmt.Errorf("must be one of %s", strings.Join(o.names, ", "))
	}
	o.chosen = name
	return nil
}

// String returns the name of the chosen format.
func (o *output[T]) String() string { return o.chosen }

// Type returns the name of the value in help.
func (o *output[T]) Type() string { return "form" }

// write prints a document in the chosen format.
func (o *output[T]) write(env Env, document T) error {
	return o.forms[o.chosen](document, env.Out, tty.StyleFor(env.Out, env.Getenv))
}

func inJSON[T any](document T, out io.Writer, _ term.Style) error { return term.JSON(out, document) }

func inYAML[T any](document T, out io.Writer, _ term.Style) error {
	return written(yaml.Marshal(document))(out)
}

// inHTML returns a format that prints an HTML page.
func inHTML[T any](page func(T) ([]byte, error)) form[T] {
	return func(document T, out io.Writer, _ term.Style) error { return written(page(document))(out) }
}

// written returns a function that writes text, or returns err if err is not nil.
func written(text []byte, err error) func(io.Writer) error {
	return func(out io.Writer) error {
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
}

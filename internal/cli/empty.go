package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A given is the value of a flag that must not be empty. With -n "$NS" and NS unset, a
// command must not select all namespaces.
type given struct{ pflag.Value }

// Set sets the value. It refuses an empty text.
func (g given) Set(text string) error {
	if text == "" {
		return errors.New("the value is empty, perhaps from an unset variable. Give a value, or remove the flag")
	}
	return g.Value.Set(text)
}

// refuseEmpty makes the flags of a command and its subcommands refuse an empty value.
func refuseEmpty(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() != "bool" {
			f.Value = given{f.Value}
			f.DefValue = strings.TrimPrefix(f.DefValue, "[]") // otherwise help prints it as a default
		}
	})
	for _, below := range c.Commands() {
		refuseEmpty(below)
	}
}

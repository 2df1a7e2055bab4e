package cli_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// A shell completes the workloads in git, forms and presets.
func TestAShellCompletesNames(t *testing.T) {
	t.Parallel()
	w := settled(t)
	config := w.path("config.yaml")
	for line, want := range map[string][]string{
		"diff -c " + config + " ":                 {"pay", "shop", "pay/ledger", "shop/api", "shop/cart", "shop/web"},
		"restore -c " + config + " -n shop ":      {"api", "cart", "web"},
		"pause -c " + config + " -n ":             {"pay", "shop"},
		"tick -o ":                                {"table", "json", "yaml"},
		"diff -o ":                                {"table", "json", "yaml"},
		"restore --release=":                      {"all", "expired"},
		"explain -c " + w.path("none.yaml") + " ": nil,
	} {
		got := run(w.now, append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(line, " ")...)...)
		words := strings.Split(strings.TrimSpace(got.out), "\n")
		words = words[:len(words)-1] // the last is a directive for the shell
		for _, one := range want {
			if !slices.Contains(words, one) {
				t.Errorf("%s: no %s in %q", line, one, words)
			}
		}
		if len(want) == 0 && len(words) > 0 {
			t.Errorf("%s: %q", line, words)
		}
	}
}

// explain and log take one workload: the help and the shell do not offer a namespace.
func TestCommandsOfOneWorkloadOfferNoNamespace(t *testing.T) {
	t.Parallel()
	w := settled(t)
	for _, command := range []string{"explain", "log"} {
		help := run(w.now, command, "--help").out
		for _, offer := range []string{"NAMESPACE,", "every workload in shop", "namespace to select", "namespace of the targets"} {
			if strings.Contains(help, offer) {
				t.Errorf("%s: its help offers %q:\n%s", command, offer, help)
			}
		}
		if !strings.Contains(help, "TARGET is NAMESPACE/NAME or NAMESPACE/KIND/NAME.") {
			t.Errorf("%s: its help does not describe TARGET:\n%s", command, help)
		}
		got := run(w.now, cobra.ShellCompNoDescRequestCmd, command, "-c", w.path("config.yaml"), "")
		words := strings.Split(strings.TrimSpace(got.out), "\n")
		if want := []string{"pay/ledger", "shop/api", "shop/cart", "shop/web"}; !slices.Equal(words[:len(words)-1], want) {
			t.Errorf("%s: a shell completes %q, want %q", command, words, want)
		}
		if got := w.run(command, "shop"); got.status == 0 || !strings.Contains(got.err, "give one workload of namespace shop: shop/api, ") {
			t.Errorf("%s of a namespace: %+v", command, got)
		}
	}
}

// Each command is in a group and has an example.
func TestHelpIsGroupedAndHasExamples(t *testing.T) {
	t.Parallel()
	out := run(time.Time{}, "--help").out
	for _, want := range []string{"Get started:\n", "Daily use:\n", "Before and after a rebuild:\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, c := range []string{"tick", "status", "explain", "diff", "log", "pause", "adopt", "drill", "restore", "demo", "preview", "init", "validate", "doctor", "backtest", "version"} {
		help := run(time.Time{}, append(strings.Fields(c), "--help")...).out
		_, example, _ := strings.Cut(help, "Examples:\n")
		if strings.HasPrefix(example, "  # ") {
			_, example, _ = strings.Cut(example, "\n")
		}
		if !strings.HasPrefix(example, "  gitlatch "+c) {
			t.Errorf("%s: no example in\n%s", c, help)
		}
	}
}

// Help lists common flags separately, once, with one line for each.
func TestHelpListsCommonFlagsInOneLineEach(t *testing.T) {
	t.Parallel()
	site := []string{"-c, --config", "--repository", "--site"}
	cluster := append(slices.Clone(site), "--context", "--kubeconfig", "-o, --output")
	for command, want := range map[string][]string{
		"tick": cluster, "drill": cluster, "restore": cluster, "pause": cluster,
		"log": append(slices.Clone(site), "-o, --output"), "backtest": append(slices.Clone(site), "-o, --output"),
	} {
		help := run(time.Time{}, append(strings.Fields(command), "--help")...).out
		_, common, found := strings.Cut(help, "\nCommon Flags:\n")
		common, _, _ = strings.Cut(common, "\n\n")
		if lines := strings.Split(strings.TrimSpace(common), "\n"); !found || len(lines) != len(want) {
			t.Errorf("%s: lines of common flags %q, want those of %q", command, lines, want)
		}
		for _, flag := range want {
			if strings.Count(help, "\n  "+flag+" ")+strings.Count(help, "\n      "+flag+" ") != 1 {
				t.Errorf("%s: does not list %s once:\n%s", command, flag, help)
			}
		}
		for line := range strings.Lines(help) {
			if len(line) > 81 {
				t.Errorf("%s: a long line: %s", command, line)
			}
		}
	}
}

//go:build gitops

package ways_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// inFlight returns the lines of an entry for a rollout of web that returns to v1.
func inFlight(kind string) []string {
	lines := []string{`: "7"`, `_milestone: "25"`, `_phase: progressing`, `_from: 5d4f`, `_to: 7c9b`, `_returns: from`, `_differ: images`,
		`_from_main: app:v1`, `_to_main: app:v2`, `_from_proxy: proxy:v1`, `_to_proxy: proxy:v2`, `_from_setup: setup:v1`, `_to_setup: setup:v1`}
	for i, line := range lines {
		lines[i] = kind + ".web" + line
	}
	return lines
}

// pods returns a workload with containers "name=image", and init containers
// "init:name=image" after them.
func pods(kind, namespace string, containers ...string) string {
	var main, init []string
	for _, c := range containers {
		name, image, _ := strings.Cut(strings.TrimPrefix(c, "init:"), "=")
		text := fmt.Sprintf("{name: %s, image: %q, env: [{name: A, value: b}]}", name, image)
		if strings.HasPrefix(c, "init:") {
			init = append(init, text)
		} else {
			main = append(main, text)
		}
	}
	own := ""
	if kind == "StatefulSet" {
		own = "\n  serviceName: web"
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: %s
metadata: {name: web, namespace: %s}
spec:
  selector: {matchLabels: {app: web}}%s
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [%s], initContainers: [%s]}
`, kind, namespace, own, strings.Join(main, ", "), strings.Join(init, ", "))
}

func putsBack(t *testing.T, cp *controlplane.ControlPlane) {
	target := []string{"main=app:v2", "proxy=proxy:v2", "init:setup=setup:v1"}
	back := "app:v1 proxy:v1 setup:v1"
	for name, c := range map[string]struct {
		change     string // a line that replaces the line with the same key; "-KEY" removes it
		containers []string
		want       string
	}{
		"the-target":               {"", target, back},
		"in-another-order":         {"", []string{"proxy=proxy:v2", "main=app:v2", "init:setup=setup:v1"}, "proxy:v1 app:v1 setup:v1"},
		"it-returns-to-the-target": {"_returns: to", target, "app:v2 proxy:v2 setup:v1"},
		"it-says-nothing":          {"-_returns", target, "app:v2 proxy:v2 setup:v1"},
		"more-than-images-differ":  {"_differ: more", target, "app:v2 proxy:v2 setup:v1"},
		"differ-is-not-known":      {"-_differ", target, "app:v2 proxy:v2 setup:v1"},
		"neither":                  {"", []string{"main=app:v3", "proxy=proxy:v2", "init:setup=setup:v1"}, "app:v3 proxy:v2 setup:v1"},
		"one-of-two":               {"", []string{"main=app:v2", "proxy=proxy:v3", "init:setup=setup:v1"}, "app:v2 proxy:v3 setup:v1"},
		"another-init":             {"", []string{"main=app:v2", "proxy=proxy:v2", "init:setup=setup:v2"}, "app:v2 proxy:v2 setup:v2"},
		"where-it-came-from":       {"", []string{"main=app:v1", "proxy=proxy:v1", "init:setup=setup:v1"}, back},
		"one-more":                 {"", append([]string{"more=more:v1"}, target...), "more:v1 app:v2 proxy:v2 setup:v1"},
		"one-less":                 {"", []string{"main=app:v2", "init:setup=setup:v1"}, "app:v2 setup:v1"},
		"no-init":                  {"", []string{"main=app:v2", "proxy=proxy:v2"}, "app:v2 proxy:v2"},
		"no-image-to-put-back":     {"-_from_proxy", target, "app:v2 proxy:v2 setup:v1"},
		"an-empty-image":           {`_from_proxy: ""`, target, "app:v2 proxy:v2 setup:v1"},
		"one-that-came":            {"_to_new: new:v1", target, "app:v2 proxy:v2 setup:v1"},
		"one-that-went":            {"_from_old: old:v1", target, "app:v2 proxy:v2 setup:v1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for _, kind := range []string{"deployment", "statefulset", "daemonset"} {
				key, _, _ := strings.Cut(strings.TrimPrefix(c.change, "-"), ":")
				for _, line := range inFlight(kind) {
					if key == "" || !strings.HasPrefix(line, kind+".web"+key+":") {
						lines = append(lines, line)
					}
				}
				if c.change != "" && !strings.HasPrefix(c.change, "-") {
					lines = append(lines, kind+".web"+c.change)
				}
			}
			lines = append(lines, `deployment.probe: "9"`, `deployment.web-2_from_main: "no line of web"`, `deployment.web-2_to_more: "nor this"`)
			cp.Apply(t, namespaceOf(name), record(name, lines...))
			acts(t, cp, name, "probe", "9 app:1")
			for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
				if got := images(t, cp, pods(kind, name, c.containers...)); got != c.want {
					t.Errorf("%s is created with %s, want %s", kind, got, c.want)
				}
			}
		})
	}
}

// images returns the images of the workload that a manifest would create, init
// containers last. The other fields of a container must equal the manifest's.
func images(t *testing.T, cp *controlplane.ControlPlane, manifest string) string {
	t.Helper()
	got := cp.Kubectl(t, manifest, "create", "--dry-run=server", "-f", "-", "-o",
		`jsonpath={range .spec.template.spec['containers','initContainers'][*]}{.image}{" "}{.env[0].value}{" "}{end}`)
	if strings.Count(got, " b ") != strings.Count(manifest, "value: b") {
		t.Errorf("a container lost its environment: %s", got)
	}
	return strings.TrimSpace(strings.ReplaceAll(got, " b ", " "))
}

package doctor_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

func traps(r doctor.Report) string {
	var all []string
	for _, found := range r.Findings {
		all = append(all, string(found.Trap))
	}
	return strings.Join(all, " ")
}

func TestWhatIsNoObjectOfItsKindIsUnread(t *testing.T) {
	t.Parallel()
	f := read(t, "flux")
	f["cluster.yaml"] += "---\nkind: Kustomization\nmetadata: {name: odd, namespace: flux-system}\nspec: {path: [7]}\n"
	if r := f.examine(t); len(r.Unread) != 1 || !strings.Contains(r.Unread[0].String(), "read a Kustomization: ") {
		t.Errorf("unread %q", r.Unread)
	}
}

func TestEverySourceIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, s := range doctor.Sources() {
		if err := new(doctor.Cluster).Add(s.Kind, []byte("{}")); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if new(doctor.Cluster).Add("Pod", []byte("{}")) == nil {
		t.Error("a Pod is taken for something that is looked at")
	}
}

func TestBuildsOfOthersAreTheirOwn(t *testing.T) {
	t.Parallel()
	const broken = "resources: [gone.yaml]\n"
	for name, c := range map[string]struct {
		more fixture
		want string
	}{
		"one that a tool applies": {fixture{"more": "./apps/broken"}, ""},
		"one that was asked for":  {fixture{"paths": "apps/broken"}, "build-fails"},
		"one that has the Component": {fixture{"more": "./apps/broken",
			"repo/apps/broken/kustomization.yaml": broken + "components: [../../checkpoints/prod/shop]\n"}, "build-fails"},
		"a Component of another folder": {fixture{"repo/parts/eu/labels/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: []\n",
			"repo/clusters/prod/shop/kustomization.yaml": "resources: [../../../apps/shop]\ncomponents: [../../../checkpoints/prod/shop, ../../../parts/eu/labels]\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, "flux")
			f["repo/apps/broken/kustomization.yaml"] = broken
			for at, text := range c.more {
				f[at] = text
			}
			if at := c.more["more"]; at != "" {
				f["cluster.yaml"] += "---\nkind: Kustomization\nmetadata: {name: more, namespace: flux-system}\nspec: {path: " + at + "}\n"
			}
			if r := f.examine(t); traps(r) != c.want {
				t.Errorf("falls into %q, want %q:\n%s", traps(r), c.want, tell(r))
			}
		})
	}
}

// Prefixes and suffixes apply from the innermost folder to the outermost.
func TestAnEntryIsOfWhatAWorkloadWasCalledBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ inner, outer, live string }{
		"two prefixes":        {"namePrefix: blue-\n", "namePrefix: eu-\n", "eu-blue-web"},
		"a prefix and suffix": {"namePrefix: blue-\nnameSuffix: -a\n", "", "blue-web-a"},
		"two suffixes":        {"nameSuffix: -blue\n", "nameSuffix: -eu\n", "web-blue-eu"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, "flux")
			f["live"] = "shop/deployment/" + c.live + " 180 3 500\n"
			f["repo/apps/shop/kustomization.yaml"] += c.inner
			f["repo/clusters/prod/kustomization.yaml"] = "resources: [shop]\n" + c.outer
			f["cluster.yaml"] = strings.Replace(f["cluster.yaml"], "path: ./clusters/prod/shop", "path: ./clusters/prod", 1)
			r := f.examine(t)
			if traps(r) != string(doctor.BeforePrefix) || !strings.Contains(r.Findings[0].Text, "to "+c.live+".") {
				t.Errorf("%s", tell(r))
			}
		})
	}
}

// A user who configured a hub gets no advice to configure one.
func TestNoAdviceToConfigureAHubThatIsConfigured(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fixture{"no applier": read(t, "no-applier--hub"), "the hub's own cluster": read(t, "other-destination--hub")} {
		for _, found := range f.examine(t).Findings {
			if strings.Contains(found.Text, "set gitops in the configuration") {
				t.Errorf("%s: %s", name, found.Text)
			}
		}
	}
}

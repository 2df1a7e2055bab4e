package architecture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The name of the file that lists dependencies, by ecosystem.
var dependencyLists = map[string]string{"gomod": "go.mod", "npm": "package.json", "pip": "requirements.in"}

func TestDependabotReadsEachListOfDependencies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".github/dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var configured struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directory   string
			Directories []string
		}
	}
	if err := yaml.Unmarshal(text, &configured); err != nil {
		t.Fatal(err)
	}
	files := tracked(t)
	for _, u := range configured.Updates {
		list, reads := dependencyLists[u.Ecosystem], slices.Concat(u.Directories, []string{u.Directory})
		for _, file := range files {
			folder, name := filepath.Split("/" + file)
			pinned := strings.HasPrefix(folder, "/scripts/controlplane/versions/")
			if name == list && slices.Contains(reads, filepath.Clean(folder)) == pinned {
				t.Errorf("dependabot.yml: %s has the directories %v, which must contain each folder with a %s except scripts/controlplane/versions: %s", u.Ecosystem, reads, list, folder)
			}
		}
	}
	for ecosystem := range dependencyLists {
		if !strings.Contains(string(text), "package-ecosystem: "+ecosystem+"\n") {
			t.Errorf("dependabot.yml does not read the ecosystem %s", ecosystem)
		}
	}
}

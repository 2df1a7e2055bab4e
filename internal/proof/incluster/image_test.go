package incluster

import (
	"os"
	"regexp"
	"testing"
)

// make prometheus tests the version of the Pushgateway that users deploy.
func TestTheImageOfThePushgatewayIsTheTestedVersion(t *testing.T) {
	t.Parallel()
	built := found(t, "../../../scripts/prometheus/pushgateway/go.mod", `github\.com/prometheus/pushgateway (v\S+)`)
	if image := found(t, "../../../infra/cluster/prometheus/pushgateway.yaml", `image: quay\.io/prometheus/pushgateway:(v\S+)`); image != built {
		t.Errorf("the image of the Pushgateway has version %s, and the test builds %s", image, built)
	}
}

// tag returns the tag of the release whose image infra/cluster names.
func tag(t *testing.T) string {
	t.Helper()
	return found(t, "../../../infra/cluster/image/kustomization.yaml", `newTag: (v\S+)`)
}

// found returns the group of a pattern in a file.
func found(t *testing.T, path, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	groups := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
	if groups == nil {
		t.Fatalf("%s does not match %s", path, pattern)
	}
	return groups[1]
}

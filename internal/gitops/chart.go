package gitops

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// BuildChart returns the objects of a rendered Helm chart, after the edits of a
// post-renderer. dir is the folder of the chart, and the Dir of the overlay.
func BuildChart(manifests []byte, dir string, e Edits, kinds workload.Kinds) (Overlay, error) {
	const folder = "chart"
	var kept bytes.Buffer
	for _, document := range separator.Split(string(manifests), -1) {
		var o metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			first, _, _ := strings.Cut(strings.TrimSpace(document), "\n")
			return Overlay{Dir: dir}, fmt.Errorf("read the objects of the chart: %s: %w", strings.TrimPrefix(first, "# "), err)
		}
		_, hook := o.Annotations["helm.sh/hook"]
		if o.Kind != "" && !hook && (e.Fields != nil || has(kinds, o)) { // an edit may name an object of any kind
			kept.WriteString("\n---\n" + document + "\n")
		}
	}
	if kept.Len() == 0 {
		return Overlay{Dir: dir}, nil
	}
	o, err := Build(map[string][]byte{folder + "/objects.yaml": kept.Bytes()}, folder, e, kinds)
	o.Dir, o.Folders = dir, nil
	return o, err
}

// separator matches the text between two documents, as Helm does: a comment may follow.
var separator = regexp.MustCompile(`(?:^|\s*\n)---\s*`)

// has reports whether an overlay has a list for the kind of an object.
func has(kinds workload.Kinds, o metav1.PartialObjectMetadata) bool {
	group := o.GroupVersionKind().Group
	_, isWorkload := kinds.Named(group, o.Kind)
	_, isAutoscaler := Autoscalers.Named(group, o.Kind)
	record := o.Kind == "ConfigMap" && o.Name == recordName
	return isWorkload || isAutoscaler || applies(group, o.Kind) || group == "" && (record || o.Kind == "List")
}

// applies reports whether a kind applies manifests from git.
func applies(group, kind string) bool {
	return group == "kustomize.toolkit.fluxcd.io" && kind == "Kustomization" || group == "argoproj.io" && kind == "Application"
}

// A Config is a ConfigMap or a Secret in a build.
type Config struct {
	Kind, Namespace, Name string
	// Unplaced is true if the build states no namespace.
	Unplaced bool
	Data     map[string]string
	// Sealed is true if the values are encrypted with SOPS.
	Sealed bool
}

// configOf parses a ConfigMap or a Secret.
func configOf(data []byte) (Config, error) {
	var o struct {
		Kind       string            `json:"kind"`
		Metadata   metav1.ObjectMeta `json:"metadata"`
		Data       map[string]any    `json:"data"`
		StringData map[string]string `json:"stringData"`
		SOPS       any               `json:"sops"`
	}
	if err := yaml.Unmarshal(data, &o); err != nil {
		return Config{}, err
	}
	c := Config{Kind: o.Kind, Name: o.Metadata.Name, Data: map[string]string{}, Sealed: o.SOPS != nil}
	for key, value := range o.Data {
		text, _ := value.(string)
		if c.Kind == "Secret" && !c.Sealed {
			plain, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return c, fmt.Errorf("key %s: %w", key, err)
			}
			text = string(plain)
		}
		c.Data[key] = text
	}
	maps.Copy(c.Data, o.StringData)
	return c, nil
}

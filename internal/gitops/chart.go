package gitops

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// BuildChart returns the objects of a rendered Helm chart, after the edits of a
// post-renderer. dir is the folder of the chart, and the Dir of the overlay. Hooks are not
// a part of a rebuild.
func BuildChart(manifests []byte, dir string, e Edits, kinds workload.Kinds) (Overlay, error) {
	const folder = "chart"
	o := Overlay{Dir: dir}
	var all bytes.Buffer // for the edits
	for _, document := range separator.Split(string(manifests), -1) {
		objects, err := objectsOf(document)
		for _, data := range objects {
			all.WriteString("\n---\n" + string(data))
			err = errors.Join(err, o.add(data, kinds))
		}
		if err != nil {
			first, _, _ := strings.Cut(strings.TrimSpace(document), "\n")
			return Overlay{Dir: dir}, fmt.Errorf("read the objects of the chart: %s: %w", strings.TrimPrefix(first, "# "), err)
		}
	}
	o.sort()
	if e.Fields == nil || all.Len() == 0 {
		return o, nil
	}
	edited, err := Build(map[string][]byte{folder + "/objects.yaml": all.Bytes()}, folder, e, kinds)
	edited.Dir, edited.Folders = dir, nil
	return edited, err
}

// objectsOf returns the objects of a document as JSON, without hooks: one object, the
// objects of a list, or no object.
func objectsOf(document string) ([]json.RawMessage, error) {
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		return nil, err
	}
	var o struct {
		metav1.PartialObjectMetadata
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	_, hook := o.Annotations["helm.sh/hook"]
	switch {
	case o.Kind == "" || hook:
		return nil, nil
	case o.Kind == "List":
		return o.Items, nil
	}
	return []json.RawMessage{data}, nil
}

// separator matches the text between two documents, as Helm does: a comment may follow.
var separator = regexp.MustCompile(`(?:^|\s*\n)---\s*`)

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

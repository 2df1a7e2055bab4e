package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// settings is the name of the ConfigMap with the settings of an Argo CD, in its own
// namespace.
const settings = "argocd-cm"

// controllers returns the namespaces of the Argo CDs that reconcile Applications.
func (c Cluster) controllers() []string {
	all := lists.Map(c.applications, func(a application) string { return a.Status.ControllerNamespace })
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(namespace string) bool { return namespace == "" }) // not reported yet
}

// customizations is the prefix of the settings with rules for all Applications. A group
// and kind may follow it.
const customizations = "resource.customizations"

// govern sets the rules of an Argo CD on the Applications that it reconciles.
func (c *Cluster) govern(namespace string, data []byte) error {
	var object struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("read %s: %w", settings, err)
	}
	rules, err := systemRules(object.Data)
	for i, a := range c.applications {
		if a.Status.ControllerNamespace == namespace {
			c.applications[i].system = rules
		}
	}
	return err
}

// systemRules returns the ignore rules in settings: from the one document for all kinds,
// and from the separate key of each kind.
func systemRules(of map[string]string) (rules []difference, err error) {
	var together map[string]struct {
		IgnoreDifferences string `json:"ignoreDifferences"`
	}
	if err := yaml.Unmarshal([]byte(of[customizations]), &together); err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", customizations, settings, err)
	}
	texts := map[string]string{}
	for key, one := range together {
		texts[key] = one.IgnoreDifferences
	}
	for key, text := range of {
		if kind, ok := strings.CutPrefix(key, customizations+".ignoreDifferences."); ok {
			texts[strings.Replace(kind, "_", "/", 1)] = text
		}
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		var rule difference
		if err := yaml.Unmarshal([]byte(texts[key]), &rule); err != nil {
			return nil, fmt.Errorf("read the rule of %s for %s: %w", settings, key, err)
		}
		rule.Group, rule.Kind = path.Split(key)
		rule.Group = strings.TrimSuffix(rule.Group, "/")
		if key == everything {
			rule.Group, rule.Kind = "*", "*"
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// everything is the key of the rules for all groups and kinds.
const everything = "all"

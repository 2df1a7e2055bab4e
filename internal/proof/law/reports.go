package law

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// reports compares each commit of the tick with its message, and judges the checkpoint files
// that it wrote. At the tip, a file may wait for the budget.
func reports(s *Seen) string {
	for _, c := range s.Mine {
		for _, change := range c.Changes {
			if !mentions(c.Message, change) {
				return fmt.Sprintf("%s changes %s from %+v to %+v, and its message does not show this", subject(c), change.ID, change.From, change.To)
			}
		}
		for _, path := range c.Paths {
			namespace, is := strings.CutSuffix(strings.TrimPrefix(path, checkpoint.Directory(s.World.Site)+"/"), ".levels.yaml")
			if is && s.edited(c.ID, namespace) {
				return fmt.Sprintf("%s writes the checkpoint file of %s, and not the objects that a cluster needs", subject(c), namespace)
			}
		}
	}
	return s.outdated()
}

// mentions reports whether a message has a line for each part of a change.
func mentions(message string, change checkpoint.Change) bool {
	line := func(text string) bool {
		return regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(change.ID.String()) + text).MatchString(message)
	}
	from, to := change.From, change.To
	retired := to.IsZero() && line(` .* -> retired: `)
	level := from.WithRollout(to.Rollout) == to || line(fmt.Sprintf(` .* -> %d: `, to.Replicas))
	rollout := from.Rollout == to.Rollout || line(` rollout .* -> `)
	return retired || level && rollout
}

// An object is a part of a checkpoint file, as an API server reads it.
type object struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Data     map[string]any
	Spec     struct {
		PolicyName     string `yaml:"policyName"`
		MatchResources struct {
			NamespaceSelector struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			} `yaml:"namespaceSelector"`
		} `yaml:"matchResources"`
		ParamRef struct {
			Name, Namespace         string
			ParameterNotFoundAction string `yaml:"parameterNotFoundAction"`
		} `yaml:"paramRef"`
	}
}

// edited reports whether the checkpoint file of a namespace has, in a commit, other objects
// than the ConfigMap of the namespace with its levels as text, and its binding.
func (w *Witness) edited(commit, namespace string) bool {
	text, there := w.story.Repository.Show(commit)[checkpoint.RecordPath(w.story.Site, namespace)]
	if !there {
		return false
	}
	var levels, bindings int
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var o object
		if decoder.Decode(&o) != nil {
			break
		}
		ref := o.Spec.ParamRef
		switch {
		case o.Kind == "ConfigMap" && o.Metadata.Name == namespace && o.Metadata.Namespace == "gitlatch-levels":
			levels++
		case o.Kind == "MutatingAdmissionPolicyBinding" && o.Metadata.Name == "gitlatch-levels."+namespace &&
			o.Spec.PolicyName == "gitlatch-levels" && ref.Name == namespace && ref.Namespace == "gitlatch-levels" &&
			ref.ParameterNotFoundAction == "Allow" && o.Spec.MatchResources.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] == namespace:
			bindings++
		default:
			return true
		}
		for _, value := range o.Data {
			if _, is := value.(string); !is {
				return true
			}
		}
		for id, e := range w.at(commit) {
			declared := fmt.Sprint(o.Data[string(id.Kind)+"."+id.Name])
			if o.Kind == "ConfigMap" && id.Namespace == namespace && e.Replicas > 0 && declared != fmt.Sprint(e.Replicas) {
				return true
			}
		}
	}
	return levels != 1 || bindings != 1
}

// outdated counts the calm ticks in which a checkpoint file at the tip has edited text,
// although the budget has a commit, and returns a text if there were too many in a row.
func (s *Seen) outdated() string {
	calm := s.Calm && !s.World.Propose && !s.Told.Observe && !s.Told.Stop.All && s.Told.Stop.Reason != policy.ReasonSecond
	wrong := ""
	if calm {
		wrong = s.staleAt(s.After.Tip)
	}
	switch {
	case wrong == "":
		s.Witness.stale = 0
	case policy.Affords(s.Told.Set.Guards, s.Before.Head.Budget, s.Told.At):
		s.Witness.stale++
	}
	if s.stale <= 3 {
		return ""
	}
	return fmt.Sprintf("the checkpoint file of %s has edited text, for %d calm ticks with a commit in the budget", wrong, s.stale)
}

// staleAt returns a namespace whose readable checkpoint file has edited text in a commit; ""
// without such a namespace.
func (w *Witness) staleAt(commit string) string {
	if w.compared != commit {
		w.compared, w.differing = commit, ""
		broken := w.unread(commit)
		for id := range w.at(commit) {
			if broken[id.Namespace] == nil && w.edited(commit, id.Namespace) {
				w.differing = id.Namespace
			}
		}
	}
	return w.differing
}

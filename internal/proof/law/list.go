package law

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// listMark is the start of a kustomization that gitlatch wrote.
const listMark = "# gitlatch writes this file"

// lists judges the site's kustomization in each commit of gitlatch, and at the tip.
func lists(s *Seen) string {
	for _, c := range s.New {
		if c.By != ours {
			continue
		}
		after := s.listAt(c.ID)
		for _, namespace := range after.names {
			if !after.recorded[namespace] {
				return fmt.Sprintf("%s lists %s, which has no checkpoint file that builds", subject(c), namespace)
			}
		}
	}
	for _, c := range s.Mine {
		before, after := s.listAt(c.Parents[0]), s.listAt(c.ID)
		for _, namespace := range before.names {
			dropped := after.own && after.recorded[namespace] && !slices.Contains(after.names, namespace)
			if why := s.inUse(namespace, c.Parents[0]); dropped && why != "" {
				return fmt.Sprintf("%s leaves %s out of the list although %s", subject(c), namespace, why)
			}
		}
	}
	return s.overdue()
}

// A list is a site's kustomization in a commit.
type list struct {
	own      bool // gitlatch wrote it
	names    []string
	recorded map[string]bool // namespaces with a checkpoint file that builds
}

func (w *Witness) listAt(commit string) list {
	files := w.story.Repository.Show(commit)
	l := list{recorded: map[string]bool{}}
	text := files[checkpoint.ListPath(w.story.Site)]
	if l.own = strings.HasPrefix(text, listMark); l.own {
		l.names = story.Listed(text)
	}
	for path, text := range files {
		below, is := strings.CutPrefix(path, checkpoint.Directory(w.story.Site)+"/")
		namespace, one := strings.CutSuffix(below, "/checkpoint.yaml")
		l.recorded[namespace] = l.recorded[namespace] || is && one && builds(namespace, text, w.unread(commit)[namespace] == nil)
	}
	return l
}

// builds reports whether a checkpoint file is the ConfigMap of its namespace. If gitlatch can
// read it, it adds missing quotes.
func builds(namespace, text string, readable bool) bool {
	var object struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
		Data     map[string]any
	}
	err := yaml.Unmarshal([]byte(text), &object)
	for _, value := range object.Data {
		if _, is := value.(string); !is && !readable {
			return false
		}
	}
	return err == nil && object.Kind == "ConfigMap" && object.Metadata.Name != "" && object.Metadata.Namespace == namespace
}

// inUse returns the reason why a tick may not leave a namespace out of the list, by its
// sample and the entries in a commit; "" if it may.
func (s *Seen) inUse(namespace, commit string) string {
	for _, sample := range s.Told.Samples {
		if sample.ID.Namespace == namespace {
			return sample.ID.String() + " runs"
		}
	}
	switch {
	case len(s.Told.Unread) > 0:
		return "a part is unread"
	case s.Told.Cluster != s.Told.Head.Cluster.UID:
		return "the cluster is another"
	case s.Told.Head.Drop != nil:
		return "much of the fleet dropped"
	}
	for id := range s.at(commit) {
		_, looked := s.Told.Kinds.Object(id.Kind)
		switch {
		case id.Namespace != namespace:
		case !looked:
			return fmt.Sprintf("the tick does not sample %s", id)
		case s.manyAbsent(commit) && s.absent(id) < 24*time.Hour-story.Period:
			return fmt.Sprintf("many entries are absent, and %s only for %s", id, s.absent(id))
		}
	}
	return ""
}

// manyAbsent reports whether more entries in a commit belong to workloads that the tick did
// not see than the guard of retirement allows. The guard does not count a kind that the tick
// did not sample, and an entry that git and the state had lost.
func (s *Seen) manyAbsent(commit string) bool {
	runs := map[string]bool{}
	for _, sample := range s.Told.Samples {
		runs[sample.ID.String()] = true
	}
	entries, absent := maps.Clone(s.at(commit)), 0
	maps.DeleteFunc(entries, func(id workload.ID, _ checkpoint.Entry) bool { return s.blind[id.Namespace] != nil })
	for id := range entries {
		_, looked := s.Told.Kinds.Object(id.Kind)
		if looked && s.names(id.Kind) && !runs[id.String()] {
			absent++
		}
	}
	return absent > 1 && float64(absent) > s.Told.Set.Guards.RetireShare*float64(len(entries))
}

// overdue counts the calm ticks in which the list at the tip differs from the namespaces
// in use, although the budget has a commit, and returns a text if there were too many in a
// row.
func (s *Seen) overdue() string {
	tip := s.listAt(s.After.Tip)
	calm := s.Calm && tip.own && !s.World.Propose && !s.Told.Observe && !s.Told.Stop.All && s.Told.Stop.Reason != policy.ReasonSecond
	wrong := ""
	if calm {
		wrong = s.wrongIn(tip)
	}
	switch {
	case wrong == "":
		s.unlisted = 0
	case policy.Affords(s.Told.Set.Guards, s.Before.Head.Budget, s.Told.At):
		s.unlisted++
	}
	if s.unlisted <= 30 {
		return ""
	}
	return fmt.Sprintf("%s, for %d calm ticks with a commit in the budget", wrong, s.unlisted)
}

// wrongIn returns the difference between a list at the tip and the namespaces in use, or "".
func (s *Seen) wrongIn(tip list) string {
	for _, namespace := range tip.names {
		if !tip.recorded[namespace] {
			return "the list has " + namespace + ", which has no checkpoint file that builds"
		}
	}
	for _, namespace := range s.ids() {
		listed := slices.Contains(tip.names, namespace)
		wrong := ""
		switch sampled := s.sampled(namespace); {
		case !tip.recorded[namespace]:
		case !listed && sampled:
			wrong = namespace + " has workloads, and the list leaves it out"
		case listed && !sampled && !s.manyAbsent(s.After.Tip) && s.inUse(namespace, s.After.Tip) == "":
			wrong = namespace + " has no workloads, and the list has it"
		}
		if wrong != "" && s.unread(s.After.Tip)[namespace] == nil && s.unread(s.Before.Tip)[namespace] == nil {
			return wrong
		}
	}
	return ""
}

// ids returns the namespaces of the entries at the tip.
func (s *Seen) ids() (namespaces []string) {
	for id := range s.After.Entries {
		namespaces = append(namespaces, id.Namespace)
	}
	return namespaces
}

// sampled reports whether the tick saw a workload of a namespace.
func (s *Seen) sampled(namespace string) bool {
	for _, sample := range s.Told.Samples {
		if sample.ID.Namespace == namespace {
			return true
		}
	}
	return false
}

package story

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/testenv/applied"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Levels are the objects of gitlatch in a world's cluster. A tool applies git just before each
// sample, unless Stopped is true. The tool keeps the levels of a checkpoint file that is
// broken.
type Levels struct {
	applied.Cluster

	Stopped bool
	Reads   int    // how often ticks read the levels
	tip     string // the commit that the tool applied last
}

// ReadLevels returns the objects of gitlatch in the world's cluster.
func (s Sampler) ReadLevels(context.Context) admission.Levels {
	s.World.Levels.Reads++
	return s.World.InCluster().Read()
}

// InCluster returns the objects of gitlatch in the world's cluster. It has the identity of the
// world's site, unless a story changes it.
func (w *World) InCluster() applied.Cluster {
	c := w.Levels.Cluster
	c.Site = cmp.Or(c.Site, w.Site)
	return c
}

// apply applies git to the cluster.
func (w *World) apply() error {
	tip, _, err := w.Repository.Heads(context.Background())
	if err != nil || w.Levels.Stopped || tip == w.Levels.tip {
		return err
	}
	tree, err := w.Tree()
	if err != nil {
		return err
	}
	levels := map[workload.ID]int32{}
	for id, level := range w.Levels.Levels {
		if tree.Broken[id.Namespace] != nil {
			levels[id] = level
		}
	}
	for id, e := range tree.Entries() {
		if e.Replicas > 0 {
			levels[id] = e.Replicas
		}
	}
	set, err := w.rules()
	if err == nil && len(set.Kinds) > 0 { // only init changes the policy, and removes no kind that is gone by mistake
		w.Levels.Kinds = set.Kinds
	}
	w.Levels.Levels = levels
	w.Levels.tip = tip
	return nil
}

// rules returns the policy of the site at the tip of the branch.
func (w *World) rules() (policy.Set, error) {
	text, found := w.Repository.Files()[w.PolicyFile]
	if !found {
		return w.parsePolicy(w.PolicyFile, nil)
	}
	return w.parsePolicy(w.PolicyFile, []byte(text))
}

// levels stop | apply: the tool stops, or applies git from now on and restores all objects.
// levels set shop/web 50 | lose shop/web: a user changes or deletes a level in the cluster.
// levels lose policy | watch | shop: a user deletes an object, or a namespace's binding. levels
// forbid [configmaps]: the parts that gitlatch may not read. levels version 35 | site stage:
// the version of Kubernetes, and the identity in the cluster.
func (s *Story) levels(w []string) error {
	err := s.apply()
	if err != nil {
		return err
	}
	l := &s.World.Levels
	l.Levels = maps.Clone(l.Levels)
	switch w[0] {
	case "stop":
		l.Stopped = true
	case "apply":
		l.Stopped = false
		l.Lost = map[string]bool{}
		l.tip = ""
	case "set":
		n, err := strconv.Atoi(w[2])
		l.Levels[ID(w[1])] = int32(n)
		return err
	case "lose":
		lost := w[1]
		if strings.Contains(lost, "/") {
			lost = ID(lost).String()
		}
		l.Lost[lost] = true
	case "forbid":
		l.Forbidden = map[string]bool{}
		for _, part := range w[1:] {
			l.Forbidden[part] = true
		}
	case "version":
		n, err := strconv.Atoi(w[1])
		l.Minor = n
		return err
	case "site":
		l.Site = w[1]
	default:
		return fmt.Errorf("nobody knows how levels %s", w[0])
	}
	return nil
}

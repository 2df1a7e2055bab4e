package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Lister reads objects of a cluster.
type Lister interface {
	// List returns all objects of a kind as JSON. It returns no objects if the cluster
	// does not have the kind.
	List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error)
	// Get returns one object as JSON, or nil if the object does not exist.
	Get(ctx context.Context, path string) (json.RawMessage, error)
	// ReadLevels returns the objects of gitlatch in the cluster.
	ReadLevels(ctx context.Context) admission.Levels
}

// ReadCluster reads the cluster. It lists in Unread the parts that could not be read and
// that answers need, and in Objects those that the limits of a rebuild need.
func ReadCluster(ctx context.Context, from Lister, kinds workload.Kinds) Cluster {
	c := Cluster{Levels: from.ReadLevels(ctx), definitions: map[workload.Kind]definition{}, tools: tools{unread: map[string]string{}}}
	for _, s := range Sources() {
		err := read(ctx, from, s.Path, s.Resource, s.Kind, func(o []byte) error { return c.Add(s.Kind, o) })
		if !s.limit {
			c.unread(s.Name, right{"", s.Group, s.Resource}, err)
		}
		switch {
		case err == nil:
		case slices.Contains([]string{kustomizationKind, releaseKind, applicationKind}, s.Kind):
			c.tools.unread[s.Kind] = err.Error()
		default:
			c.fail(s.Name, err)
		}
	}
	for _, kind := range kinds.All() {
		if o, _ := kinds.Object(kind); o.Resource != "" { // only checkpoint files have another kind
			err := read(ctx, from, o.Path(), o.Resource, o.Kind, func(one []byte) error { return c.AddWorkload(kind, o, one) })
			c.fail(o.FullResource(), err)
			c.unread(o.FullResource(), right{"", o.Group, o.Resource}, err)
		}
	}
	for kind, o := range kinds {
		if o.Resource == "" {
			continue // only checkpoint files have this kind
		}
		var d definition
		data, err := from.Get(ctx, definitions+o.FullResource())
		if err == nil && data != nil {
			err = json.Unmarshal(data, &d)
			c.definitions[kind] = d
		}
		c.unread("customresourcedefinitions.apiextensions.k8s.io", right{"", "apiextensions.k8s.io", "customresourcedefinitions"}, err)
	}
	return c
}

// ReadAdmission returns the file with the admission policy at a commit, or nil if git does not
// have it.
func ReadAdmission(ctx context.Context, from repo.Repository, commit string) ([]byte, error) {
	objects, err := from.Read(ctx, commit, nil, admission.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", admission.Path, err)
	}
	return objects[admission.Path].Files[admission.Path], nil
}

// read passes each object of a kind to add.
func read(ctx context.Context, from Lister, path, resource, kind string, add func([]byte) error) error {
	all, err := from.List(ctx, path, resource, kind)
	for _, o := range all {
		err = errors.Join(err, add(o))
	}
	return err
}

// unread adds a reading for answers that failed.
func (c *Cluster) unread(name string, needs right, err error) {
	if err == nil {
		return
	}
	c.Unread = append(c.Unread, workload.Unread{Part: name, Why: err.Error()})
	if forbidden(err.Error()) {
		c.denied = append(c.denied, needs)
	}
}

// fail adds a kind of limits or requests that could not be read.
func (c *Cluster) fail(name string, err error) {
	if err != nil {
		c.Objects.Fail(name, err)
	}
}

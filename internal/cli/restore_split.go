package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/doctor/hub"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/restore/split"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// seeding is what a split is asked for besides.
type seeding struct {
	split     bool
	paths     []string
	manifests string
}

func (p *seeding) registerSplit(c *cobra.Command) {
	c.Flags().BoolVar(&p.split, "split", false, "seed what was lost in a rollout, before its Deployments are created")
	c.Flags().StringArrayVar(&p.paths, "path", nil, "with --split: folder of the repository to build, instead of those that the cluster names; may be given again")
	c.Flags().StringVar(&p.manifests, "manifests", "", "with --split: file of what a rebuild creates, as helm template prints it, instead of any folder; - is the standard input")
}

// checkSplit says which flags are of the other thing that a restore can do.
func (p *seeding) checkSplit(c *cobra.Command) error {
	var wrong wrongs
	others := []string{"path", "manifests"}
	why := "it is for --split; leave it out"
	if p.split {
		others, why = []string{"factor", "order", "from-zero", "pace", "unready", "patience", "brake"}, "a split raises nothing; leave it out"
	}
	for _, name := range others {
		wrong.unless(!c.Flags().Changed(name), "--%s: %s", name, why)
	}
	wrong.unless(len(p.paths) == 0 || p.manifests == "", "--manifests: it stands instead of any folder; give one of the two")
	return errors.Join(wrong...)
}

// seed seeds what was lost in a rollout.
func (r *restoring) seed(ctx context.Context, env Env, s *open.Site, c config.Config, targets []grammar.Target) (report restore.SplitReport, err error) {
	tree, err := s.Declared(ctx)
	if err != nil {
		return report, err
	}
	if err := r.narrow(targets, tree); err != nil {
		return report, err
	}
	sources, err := r.sources(ctx, env, s, c)
	if err != nil {
		return report, err
	}
	return r.splitting(env, s).Run(ctx, tree, sources)
}

// sources are what a rebuild creates: what a file holds, what the folders of the
// repository build, or those that the cluster's GitOps tool is told to apply.
func (r *restoring) sources(ctx context.Context, env Env, s *open.Site, c config.Config) (sources []split.Source, err error) {
	if r.manifests != "" {
		source, err := readManifests(env, r.manifests)
		return []split.Source{source}, err
	}
	builds := doctor.Cluster{}.Builds(r.paths...)
	if len(builds) == 0 {
		objects, err := s.Objects()
		if err != nil {
			return nil, err
		}
		from, here, err := hub.Open(ctx, opener(env, c, true), objects, doctor.Here{Servers: []string{objects.Server()}})
		if err != nil {
			return nil, err
		}
		seen := doctor.ReadCluster(ctx, from, nil).Of(here)
		if builds = seen.Builds(); len(builds) == 0 {
			return nil, errors.Join(errors.New("the cluster names no folder that a rebuild applies: give the folders by --path, or what they build by --manifests"), unread(seen))
		}
	}
	repository, _, err := openRepository(ctx, opener(env, c, true))
	if err != nil {
		return nil, err
	}
	defer closed(&err, site.Parts{Repository: repository})
	tip, _, err := repository.Heads(ctx)
	if err != nil {
		return nil, err
	}
	built, err := doctor.ReadManifests(ctx, repository, tip, builds)
	return each.Of(built, func(m doctor.Manifests) split.Source {
		return split.Source{Name: m.Dir, Namespace: m.Namespace, Objects: m.Objects}
	}), err
}

// unread says what of the cluster could not be read.
func unread(c doctor.Cluster) error {
	if len(c.Unread) == 0 {
		return nil
	}
	return fmt.Errorf("not read: %s", strings.Join(workload.Texts(c.Unread), "; "))
}

// readManifests reads a file of objects, - being the standard input.
func readManifests(env Env, file string) (split.Source, error) {
	name, text, err := env.read(file)
	source := split.Source{Name: name}
	if err != nil {
		return source, fmt.Errorf("--manifests: %w", err)
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var one json.RawMessage
		switch err := documents.Decode(&one); {
		case errors.Is(err, io.EOF):
			return source, nil
		case err != nil:
			return source, fmt.Errorf("--manifests: read %s: %w", name, err)
		}
		var list struct {
			Kind  string            `json:"kind"`
			Items []json.RawMessage `json:"items"`
		}
		switch err := json.Unmarshal(one, &list); {
		case len(one) == 0 || string(one) == "null":
		case err != nil:
			return source, fmt.Errorf("--manifests: read %s: %w", name, err)
		case list.Kind == "List":
			source.Objects = slices.Concat(source.Objects, list.Items)
		default:
			source.Objects = append(source.Objects, one)
		}
	}
}

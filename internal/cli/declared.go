package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A declaredSide is the state of a site in git, with the changes of its open proposal.
type declaredSide struct {
	config     config.Config
	repository repo.Repository
	proposals  repo.Proposals // nil if the host has no proposals

	at       string // the commit or the folder
	set      policy.Set
	source   []byte // the text of the policy; nil without a policy file
	gone     string // a report that the branch lost its policy file; "" if it did not
	tree     checkpoint.Tree
	proposed map[workload.ID]checkpoint.Entry
	proposal string // its URL or its branch
}

// readRepository reads the site at its branch, with the open proposal.
func (s *declaredSide) readRepository(ctx context.Context) error {
	branch := ledger.ProposalBranch(s.config.Site)
	tip, others, err := s.repository.Heads(ctx, branch)
	if err != nil {
		return err
	}
	if err := s.readAt(ctx, tip); err != nil || others[0] == "" {
		return err
	}
	return s.readProposal(ctx, branch, tip, others[0])
}

// declaredBy opens the repository of a site and reads its branch.
func declaredBy(ctx context.Context, env Env, c config.Config) (s declaredSide, err error) {
	s.config = c
	if s.repository, _, err = opener(env, c, true).Repository(ctx); err != nil {
		return s, err
	}
	defer closed(&err, local.Parts{Repository: s.repository})
	return s, s.readTip(ctx)
}

// elsewhere returns an error if the flags do not name the site and git has only files of
// other sites.
func (f *flags) elsewhere(ctx context.Context, r repo.Repository, commit, site string, tree checkpoint.Tree) error {
	if f.repository == "" || f.site != "" || len(tree.Records)+len(tree.Broken) > 0 {
		return nil
	}
	root := path.Dir(checkpoint.Directory(site))
	objects, err := r.Read(ctx, commit, nil, root)
	others := map[string]bool{}
	for file := range objects[root].Files {
		name, _, inside := strings.Cut(strings.TrimPrefix(file, root+"/"), "/")
		others[name] = inside
	}
	if err != nil || len(others) == 0 || others[site] {
		return err
	}
	return fmt.Errorf("git has no files of site %s, and has files of %s: select the site with --site", site, strings.Join(slices.Sorted(maps.Keys(others)), ", "))
}

// readTip reads the site at its branch.
func (s *declaredSide) readTip(ctx context.Context) error {
	tip, _, err := s.repository.Heads(ctx)
	if err != nil {
		return err
	}
	return s.readAt(ctx, tip)
}

// readAt reads the policy and the checkpoint files at a commit. If the commit has files
// of the site but no policy file, readAt uses the last version of the policy in the
// history.
func (s *declaredSide) readAt(ctx context.Context, commit string) error {
	directory, file := ledger.Checkpoints(s.config.Site), s.config.Repository.PolicyFile
	objects, err := s.repository.Read(ctx, commit, nil, directory, file)
	if err != nil {
		return err
	}
	s.at = commit
	found := objects[file]
	if found.ID == "" && objects[directory].ID != "" {
		last, err := history.Last(ctx, s.repository, commit, file)
		if err != nil {
			return err
		}
		found = last.Object
		s.gone = last.Gone(file)
	}
	return s.take(objects[directory], found.Files[file])
}

// tell prints a warning if the policy file is gone.
func (s *declaredSide) tell(env Env) {
	if s.gone != "" {
		fmt.Fprintln(env.Err, s.gone)
	}
}

func (s *declaredSide) take(directory repo.Object, source []byte) (err error) {
	if s.set, err = local.ParsePolicy(s.config, s.config.Repository.PolicyFile, source); err != nil {
		return err
	}
	s.source = source
	s.tree, err = ledger.Tree(s.config.Site, directory)
	return err
}

// readProposal sets the entries that the site's open proposal changes. It compares the
// proposal's branch with the base commit of the branch.
func (s *declaredSide) readProposal(ctx context.Context, branch, tip, head string) error {
	s.proposal = "branch " + branch
	if s.proposals != nil {
		found, err := s.proposals.Find(ctx, branch)
		if err != nil {
			return err
		}
		if found == nil || found.State != repo.ProposalOpen {
			s.proposal = ""
			return nil
		}
		s.proposal = found.URL
	}
	base, err := s.standsOn(ctx, tip, head)
	if err != nil {
		return err
	}
	if base == "" {
		return fmt.Errorf("branch %s has no recent commit of the site's branch. Rebase or delete it", branch)
	}
	before, _, err := ledger.TreeAt(ctx, s.repository, base, s.config.Site)
	if err != nil {
		return err
	}
	after, _, err := ledger.TreeAt(ctx, s.repository, head, s.config.Site)
	if err != nil {
		return err
	}
	s.proposed = changed(before.Entries(), after.Entries(), s.tree.Entries())
	if len(s.proposed) == 0 {
		s.proposal = ""
	}
	return nil
}

// standsOn returns the base commit of a branch: the first ancestor of head that is not
// one of the branch's own commits. It returns "" if there is no such commit, or if the
// branch has too many commits.
func (s *declaredSide) standsOn(ctx context.Context, tip, head string) (string, error) {
	window, err := s.repository.Between(ctx, tip, head)
	if err != nil || window.Cut {
		return "", err
	}
	own := lists.Index(window.Commits, func(c repo.LogEntry) string { return c.ID })
	for len(own[head].Parents) > 0 {
		head = own[head].Parents[0]
	}
	if _, orphan := own[head]; orphan {
		return "", nil
	}
	return head, nil
}

// changed returns the entries that a proposal changes, unless now already has the change.
func changed(before, after, now map[workload.ID]checkpoint.Entry) map[workload.ID]checkpoint.Entry {
	found := map[workload.ID]checkpoint.Entry{}
	for _, entries := range []map[workload.ID]checkpoint.Entry{before, after} {
		for id := range entries {
			if to := after[id]; to != before[id] && to != now[id] {
				found[id] = to
			}
		}
	}
	return found
}

// readFolder reads the site from a folder of a checkout. It does not follow links.
func (s *declaredSide) readFolder(dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("--tree: %w", unopened(err))
	}
	defer closed(&err, root)
	s.at = "folder " + dir
	directory, err := folderOf(root, checkpoint.Directory(s.config.Site))
	if err != nil {
		return fmt.Errorf("--tree: %w", err)
	}
	source, err := root.ReadFile(filepath.FromSlash(s.config.Repository.PolicyFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--tree: %w", err)
	}
	if source == nil && len(directory.Files)+len(directory.Unsafe) == 0 {
		return fmt.Errorf("--tree: %s contains no %s and no %s. Give the root folder of the checkout",
			dir, checkpoint.Directory(s.config.Site), s.config.Repository.PolicyFile)
	}
	return s.take(directory, source)
}

// folderOf returns the files below a path as an object of a repository.
func folderOf(root *os.Root, path string) (repo.Object, error) {
	o := repo.Object{Files: map[string][]byte{}, Unsafe: map[string]string{}}
	err := fs.WalkDir(root.FS(), path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case file == path && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil || entry.IsDir():
			return err
		case !entry.Type().IsRegular():
			o.Unsafe[file] = "is not a regular file"
			return nil
		}
		content, err := fs.ReadFile(root.FS(), file)
		if err != nil {
			return err
		}
		if repo.IsLFS(content) {
			o.Unsafe[file] = "is a Git LFS pointer"
			return nil
		}
		o.Files[file] = content
		return nil
	})
	return o, err
}

// declared reads the site at its branch, and warns if the policy file is gone.
func (f *flags) declared(env Env) (git declaredSide, err error) {
	c, err := f.config()
	if err != nil {
		return git, err
	}
	err = within(context.Background(), longest, func(ctx context.Context) (err error) {
		git, err = declaredBy(ctx, env, c)
		return err
	})
	if err == nil {
		git.tell(env)
	}
	return git, err
}

package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// methods are the ways of users to merge a proposal.
var methods = map[string]repomem.Method{"merges": repomem.MergeCommit, "squashes": repomem.Squash, "rebases": repomem.Rebase}

func (s *Story) person(w []string) error {
	edit := func(what string, change func(map[workload.ID]checkpoint.Entry, workload.ID)) {
		s.Person(what, func(entries map[workload.ID]checkpoint.Entry) { change(entries, ID(w[1])) }, ID(w[1]).Namespace)
	}
	switch w[0] {
	case "sets": // shop/web 150 ["message"]
		n, err := strconv.Atoi(w[2])
		message := "scale by hand"
		if len(w) > 3 {
			message = w[3]
		}
		edit(message, func(entries map[workload.ID]checkpoint.Entry, who workload.ID) {
			e := entries[who]
			e.Replicas = int32(n)
			entries[who] = e
		})
		return err
	case "types": // shop/web 150: the level of an entry, without quotes
		path := checkpoint.RecordPath(s.Site, ID(w[1]).Namespace)
		text := s.Repository.Files()[path]
		line := regexp.MustCompile(`(?m)^(  ` + regexp.QuoteMeta(string(ID(w[1]).Kind)+"."+ID(w[1]).Name) + `: )"?\d+"?$`)
		if !line.MatchString(text) {
			return errors.New("there is no level to type over")
		}
		s.Repository.Edit("scale by hand", s.Now, map[string][]byte{path: []byte(line.ReplaceAllString(text, "${1}"+w[2]))})
	case "milestone": // shop/web 90 to: of the rollout in git
		n, err := strconv.Atoi(w[2])
		if tree, err := s.Tree(); err != nil || tree.Entries()[ID(w[1])].Rollout == (checkpoint.Rollout{}) {
			return errors.New("there is no rollout to edit")
		}
		edit("milestone by hand", func(entries map[workload.ID]checkpoint.Entry, who workload.ID) {
			e := entries[who]
			e.Rollout.Milestone, e.Rollout.Returns = int32(n), checkpoint.Side(w[3])
			entries[who] = e
		})
		return err
	case "accepts": // shop/web 3 500: bounds
		if tree, err := s.Tree(); err != nil || tree.Entries()[ID(w[1])].Replicas == 0 {
			return errors.New("there is no level to bound")
		}
		low, _ := strconv.Atoi(w[2])
		high, err := strconv.Atoi(w[3])
		edit("accept bounds", func(entries map[workload.ID]checkpoint.Entry, who workload.ID) {
			e := entries[who]
			e.Min, e.Max = int32(low), int32(high)
			entries[who] = e
		})
		return err
	case "deletes": // shop/web shop/api: their lines, in one commit; the checkpoint file stays
		edit("opt out", func(entries map[workload.ID]checkpoint.Entry, _ workload.ID) {
			for _, who := range w[1:] {
				delete(entries, ID(who))
			}
		})
	case "reverts": // the files of the last tick's commit
		files := map[string][]byte{}
		for path := range s.Repository.Files() {
			files[path] = nil
		}
		for path, text := range s.was {
			files[path] = []byte(text)
		}
		s.Repository.Edit("Revert", s.Now, files)
	case "undoes": // the newest commit of gitlatch's on the branch
		return s.undo(func(c repo.LogEntry) bool { return ledger.Ours(s.Site, c.Message) })
	case "retracts": // the newest commit on the branch
		return s.undo(func(repo.LogEntry) bool { return true })
	case "commits":
		s.Repository.Edit("work on the application", s.Now, map[string][]byte{w[1]: []byte(s.Now.String())})
	case "removes": // path ...: files, in one commit
		files := map[string][]byte{}
		for _, path := range w[1:] {
			files[path] = nil
		}
		s.Repository.Edit("remove", s.Now, files)
	case "restores": // path: the last version of a file that the branch no longer has
		return s.restores(w[1])
	case "wipes": // all files of the site
		files := map[string][]byte{}
		for path := range s.Repository.Files() {
			if strings.HasPrefix(path, checkpoint.Directory(s.Site)+"/") {
				files[path] = nil
			}
		}
		s.Repository.Edit("wipe", s.Now, files)
	case "renames": // shop store: the namespace of the files of a namespace
		files := map[string][]byte{}
		if s.Repository.Files()[checkpoint.RecordPath(s.Site, w[1])] == "" {
			return errors.New("the namespace has no files")
		}
		text := s.Repository.Files()[checkpoint.RecordPath(s.Site, w[1])]
		files[checkpoint.RecordPath(s.Site, w[1])] = nil
		files[checkpoint.RecordPath(s.Site, w[2])] = []byte(strings.ReplaceAll(text, w[1], w[2]))
		s.Repository.Edit("rename", s.Now, files)
	case "replaces": // path "old" "new", ...: replaces a text that occurs once, in one or several files, in one commit
		files := map[string][]byte{}
		for w := w[1:]; len(w) > 2; w = w[3:] {
			text, ok := files[w[0]]
			if !ok {
				text = []byte(s.Repository.Files()[w[0]])
			}
			if strings.Count(string(text), w[1]) != 1 {
				return fmt.Errorf("%s holds %q other than once:\n%s", w[0], w[1], text)
			}
			files[w[0]] = []byte(strings.Replace(string(text), w[1], w[2], 1))
		}
		s.Repository.Edit("by hand", s.Now, files)
	case "writes": // path "text"
		s.Repository.Edit("write", s.Now, map[string][]byte{w[1]: []byte(w[2] + "\n")})
	case "unbinds": // shop: edits the text around its levels
		path := checkpoint.RecordPath(s.Site, w[1])
		text := s.Repository.Files()[path]
		loose := strings.Replace(text, "parameterNotFoundAction: Allow", "parameterNotFoundAction: Deny", 1)
		if loose == text {
			return errors.New("the file has no binding with its text")
		}
		s.Repository.Edit("unbind", s.Now, map[string][]byte{path: []byte(loose)})
	case "unquotes": // shop: the numbers in its checkpoint file, which an API server then refuses
		path := checkpoint.RecordPath(s.Site, w[1])
		text := s.Repository.Files()[path]
		bare := quoted.ReplaceAllString(text, "$1$2")
		if bare == text {
			return errors.New("the file has no numbers in quotes")
		}
		s.Repository.Edit("unquote", s.Now, map[string][]byte{path: []byte(bare)})
	case "breaks", "repairs": // shop | site.yaml: makes the checkpoint file or site.yaml unreadable, and restores it
		path := checkpoint.RecordPath(s.Site, w[1])
		if w[1] == "site.yaml" {
			path = checkpoint.SitePath(s.Site)
		}
		return s.breaks(path, w[0] == "repairs")
	case "merges", "squashes", "rebases":
		p, err := s.Repository.Find(context.Background(), s.branch())
		if err != nil || p == nil || p.State != repo.ProposalOpen {
			return errors.New("there is no open proposal")
		}
		log, _, err := s.Repository.History(context.Background(), p.Head, "", 1)
		if err != nil {
			return err
		}
		merged, err := s.Repository.Merge(p.ID, methods[w[0]], s.Now)
		s.Merged[merged] = err == nil && ledger.Ours(s.Site, log[0].Message)
		return err
	case "declines":
		p, err := s.Repository.Find(context.Background(), s.branch())
		if err != nil || p == nil {
			return errors.New("there is no proposal")
		}
		s.Repository.Decline(p.ID)
	case "copies": // shop: repeats gitlatch's last commit, with its message and its version of a namespace
		return s.copies(w[1])
	case "amends": // the commit of the proposal: path
		if _, others, err := s.Repository.Heads(context.Background(), s.branch()); err != nil || others[0] == "" {
			return errors.New("there is no branch")
		}
		s.Repository.Amend(s.branch(), map[string][]byte{w[1]: []byte("theirs")})
	case "pushes": // to the proposal's branch: path
		if _, others, err := s.Repository.Heads(context.Background(), s.branch()); err != nil || others[0] == "" {
			return errors.New("there is no branch")
		}
		s.Repository.Push(s.branch(), "taken over", s.Now, map[string][]byte{w[1]: []byte("theirs")})
	case "busy": // 30: commits elsewhere
		n, err := strconv.Atoi(w[1])
		for i := range n {
			s.Repository.Edit(fmt.Sprintf("work %d", i), s.Now, map[string][]byte{"app.yaml": []byte(strconv.Itoa(i))})
		}
		return err
	default:
		return fmt.Errorf("a person cannot %q", w[0])
	}
	return nil
}

// restores commits the last version of a file that the branch no longer has.
func (s *Story) restores(path string) error {
	tip, _, err := s.Repository.Heads(context.Background())
	if err != nil {
		return err
	}
	log, _, err := s.Repository.History(context.Background(), tip, "", 1000)
	for _, c := range log {
		text, has := s.Repository.Show(c.ID)[path]
		switch {
		case has && c.ID == tip:
			return errors.New("the branch has the file")
		case has:
			s.Repository.Edit("restore", s.Now, map[string][]byte{path: []byte(text)})
			return err
		}
	}
	return errors.Join(err, errors.New("the branch never had the file"))
}

// quoted is a number in a line of a checkpoint file.
var quoted = regexp.MustCompile(`(?m)^(  \S+: )"(\d+)"$`)

// broken is the content of a file that a story breaks.
const broken = "data: ["

// breaks makes a file unreadable, or restores it.
func (s *Story) breaks(path string, back bool) error {
	text, was := s.Repository.Files()[path], s.broken[path]
	switch {
	case back && was == "", !back && text == "":
		return errors.New("there is nothing to break, or to repair")
	case back:
		delete(s.broken, path)
		s.Repository.Edit("repair", s.Now, map[string][]byte{path: []byte(was)})
	default:
		s.broken[path] = cmp.Or(was, text)
		s.Repository.Edit("break", s.Now, map[string][]byte{path: []byte(broken)})
	}
	return nil
}

func (s *Story) copies(namespace string) error {
	log, _, err := s.Repository.History(context.Background(), s.pushed, "", 1)
	if err != nil {
		return err
	}
	path := checkpoint.RecordPath(s.Site, namespace)
	objects, err := s.Repository.Read(context.Background(), s.pushed, nil, path)
	s.Repository.Edit(log[0].Message, s.Now, map[string][]byte{path: objects[path].Files[path]})
	return err
}

// undo reverts the newest of some commits, like git revert. It fails if a file of the
// commit was changed since.
func (s *Story) undo(some func(repo.LogEntry) bool) error {
	tip, _, err := s.Repository.Heads(context.Background())
	if err != nil {
		return err
	}
	log, _, err := s.Repository.History(context.Background(), tip, "", 1000)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(log, func(c repo.LogEntry) bool { return len(c.Parents) == 1 && some(c) })
	if i < 0 {
		return errors.New("there is no such commit")
	}
	now, did, was := s.Repository.Files(), s.Repository.Show(log[i].ID), s.Repository.Show(log[i].Parents[0])
	files := map[string][]byte{}
	both := maps.Clone(was)
	maps.Copy(both, did)
	for path := range both {
		before, had := was[path]
		text, has := did[path]
		at, is := now[path]
		switch {
		case had == has && before == text:
			continue
		case is != has || at != text:
			return errors.New("the revert has a conflict in " + path)
		}
		files[path] = nil
		if had {
			files[path] = []byte(before)
		}
	}
	s.Repository.Edit("Revert "+log[i].ID, s.Now, files)
	return nil
}

package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func (s *Story) expect(w []string) error {
	now, err := s.holds()
	if err != nil {
		return err
	}
	equal := func(got any, want string) error {
		if fmt.Sprint(got) != want {
			return fmt.Errorf("got %v, want %s", got, want)
		}
		return nil
	}
	switch w[0] {
	case "git": // shop/web 200 | shop/web nothing
		if e, ok := now.entries[ID(w[1])]; ok {
			return equal(levelOf(e), w[2])
		}
		return equal("nothing", w[2])
	case "rollout": // shop/web 25 progressing v1 v2 from | shop/web nothing: its rollout in git and in the latch
		r := now.entries[ID(w[1])].Rollout
		if latched := now.latches[ID(w[1])].Declared.Rollout; latched != r {
			return fmt.Errorf("git declares %+v, and the latch %+v", r, latched)
		}
		if r == (checkpoint.Rollout{}) {
			return equal("nothing", strings.Join(w[2:], " "))
		}
		return equal(fmt.Sprintf("%d %s %s %s %s", r.Milestone, r.Phase, r.From.Hash, r.To.Hash, r.Returns), strings.Join(w[2:], " "))
	case "milestone": // shop/web pending budget: the decision on its rollout | shop/web none
		for _, d := range s.Last.Decisions {
			if d.ID == ID(w[1]) && d.Reading == policy.ReadingRollout {
				return equal(strings.TrimSpace(fmt.Sprintf("%s %s", d.Verdict, d.Reason)), strings.Join(w[2:], " "))
			}
		}
		return equal("none", strings.Join(w[2:], " "))
	case "message-of-commit":
		return contains(s.Repository.Log()[0], w[1])
	case "latches": // the number of workloads with a latch
		return equal(len(now.latches), w[1])
	case "latch":
		if n := now.latches[ID(w[1])].Declared.Replicas; n != 0 {
			return equal(n, w[2])
		}
		return equal("nothing", w[2])
	case "bounds": // shop/web 3 500
		e := now.entries[ID(w[1])]
		return equal(fmt.Sprintf("%d %d", e.Min, e.Max), w[2]+" "+w[3])
	case "commits": // by gitlatch
		n := 0
		for _, message := range s.Repository.Log() {
			if strings.HasPrefix(message, "latch("+s.Site+"): ") {
				n++
			}
		}
		return equal(n, w[1])
	case "subject":
		subject, _, _ := strings.Cut(s.Repository.Log()[0], "\n")
		return equal(subject, w[1])
	case "decision": // shop/web freeze rollout
		for _, d := range s.Last.Decisions {
			if d.ID == ID(w[1]) {
				return equal(strings.TrimSpace(fmt.Sprintf("%s %s", d.Verdict, d.Reason)), strings.Join(w[2:], " "))
			}
		}
		return errors.New("no decision")
	case "says": // shop/web "words"
		for _, d := range s.Last.Decisions {
			if d.ID == ID(w[1]) {
				return contains(d.Text, w[2])
			}
		}
		return errors.New("no decision")
	case "capped":
		for _, d := range s.Last.Decisions {
			if d.ID == ID(w[1]) {
				return equal(d.Capped, "true")
			}
		}
		return errors.New("no decision")
	case "mismatch": // shop/web 3 500 | shop/web none
		for _, d := range s.Last.Decisions {
			if d.ID == ID(w[1]) {
				if d.Mismatch == nil {
					return equal("none", strings.Join(w[2:], " "))
				}
				return equal(fmt.Sprintf("%d %d", d.Mismatch.Min, d.Mismatch.Max), strings.Join(w[2:], " "))
			}
		}
		return errors.New("no decision")
	case "notice": // adopted shop/web ["words"] | rewritten
		for _, n := range s.Last.Notices {
			if string(n.Kind) == w[1] && (len(w) < 3 || n.Subject == w[2] || n.Subject == ID(w[2]).String()) {
				if len(w) > 3 {
					return contains(n.Text, w[3])
				}
				return nil
			}
		}
		return errors.New("no such notice")
	case "notices": // landed adopted: all notices
		var kinds []string
		for _, n := range s.Last.Notices {
			kinds = append(kinds, string(n.Kind))
		}
		return equal(strings.Join(kinds, " "), strings.Join(w[1:], " "))
	case "no": // notices | problem | site | file path
		switch w[1] {
		case "notices":
			return equal(len(s.Last.Notices), "0")
		case "problem":
			return equal(s.Last.Err(), "<nil>")
		case "file": // path
			_, ok := s.Repository.Files()[w[2]]
			return equal(ok, "false")
		case "site":
			_, ok := s.Repository.Files()[checkpoint.SitePath(s.Site)]
			return equal(ok, "false")
		}
	case "stop":
		return equal(s.Last.Stop.Reason, w[1])
	case "problem":
		return contains(fmt.Sprint(s.Last.Err()), w[1])
	case "requests": // to the repository, in the last tick
		return equal(s.Requests, w[1])
	case "proposal": // open 3 | merged | closed | none: the number of changes in an open proposal
		p, err := s.Repository.Find(context.Background(), s.branch())
		switch {
		case err != nil:
			return err
		case p == nil:
			return equal("none", strings.Join(w[1:], " "))
		case p.State != repo.ProposalOpen:
			return equal(p.State, strings.Join(w[1:], " "))
		}
		return equal(fmt.Sprintf("open %d", len(read.Proposed(latch.LatchesOf(now.latches)))), strings.Join(w[1:], " "))
	case "mends": // shop pay | none: the namespaces whose checkpoint file the proposal restores
		names := "none"
		if ours := now.head.Proposal; ours != nil && len(ours.Repairs) > 0 {
			names = strings.Join(lists.Map(ours.Repairs, func(m latch.Repair) string { return m.Namespace }), " ")
		}
		return equal(names, strings.Join(w[1:], " "))
	case "asks": // in the proposal's title, its body or its commit: "words"
		ours := now.head.Proposal
		if ours == nil {
			return errors.New("there is no proposal")
		}
		title, body, _ := s.Repository.Words(ours.ID)
		log, _, err := s.Repository.History(context.Background(), ours.Head, "", 1)
		said := map[string]string{"title": title, "body": body, "commit": log[0].Message}
		return errors.Join(err, contains(said[w[1]], w[2]))
	case "rests": // everything in git was read and agreed
		return equal(now.head.Agreed.Reread, "false")
	case "proposed-file": // path "words": the text of a file on the proposal's branch
		return contains(s.Repository.FilesAt(s.branch())[w[1]], w[2])
	case "proposed": // shop/web 200: the level on the proposal's branch
		files := map[string][]byte{}
		for path, text := range s.Repository.FilesAt(s.branch()) {
			files[path] = []byte(text)
		}
		tree, err := checkpoint.ParseTree(s.Site, files)
		if err != nil {
			return err
		}
		if e, ok := tree.Entries()[ID(w[1])]; ok {
			return equal(e.Replicas, w[2])
		}
		return equal("nothing", w[2])
	case "file": // path "words"
		return contains(s.Repository.Files()[w[1]], w[2])
	case "alerts": // the alerts that arrived since the last check: surge raised, mass-drop resolved
		var got []string
		for _, a := range s.Sent {
			got = append(got, string(a.Kind)+" "+string(a.State))
		}
		s.Sent = nil
		return equal(strings.Join(got, ", "), strings.Join(w[1:], " "))
	case "open": // capped-by-git shop/web | none: the open conditions; a kind alone is a condition without a workload
		var got []string
		for _, o := range now.head.Open {
			subject := strings.Replace(o.Subject, "/deployment/", "/", 1)
			if repo.CheckCommit(subject) == nil {
				subject = "commit"
			}
			got = append(got, strings.TrimSpace(string(o.Kind)+" "+subject))
		}
		return equal(cmp.Or(strings.Join(got, ", "), "none"), strings.Join(w[1:], " "))
	case "message": // one of the messages that arrived since contains the words
		var got []string
		for _, a := range s.Sent {
			got = append(got, a.Message())
		}
		return contains(strings.Join(got, "\n"), w[1])
	case "checks": // how often ticks have read the levels in the cluster
		return equal(s.World.Levels.Reads, w[1])
	case "applied": // unknown | unsupported | never | 3: the number of differences that the last check found
		a := now.head.Applied
		switch {
		case a.At.IsZero():
			return equal("never", w[1])
		case a.Unsupported:
			return equal("unsupported", w[1])
		case len(a.Unknown) > 0:
			return equal("unknown", w[1])
		}
		return equal(len(a.Oldest)+a.More, w[1])
	case "held":
		return contains(s.Last.NotRun, "lease is held")
	}
	return fmt.Errorf("nobody knows how to expect %q", w[0])
}

// levelOf returns the level of an entry, or "none" if the entry has only a rollout.
func levelOf(e checkpoint.Entry) string {
	if e.Replicas == 0 {
		return "none"
	}
	return fmt.Sprint(e.Replicas)
}

func contains(text, words string) error {
	if !strings.Contains(text, words) {
		return fmt.Errorf("%q does not say %q", text, words)
	}
	return nil
}

// holdings are the contents of git and of the store.
type holdings struct {
	entries map[workload.ID]checkpoint.Entry
	head    latch.Head
	latches map[workload.ID]latch.Latch
}

func (w *World) holds() (h holdings, err error) {
	tree, err := w.Tree()
	if err != nil {
		return h, err
	}
	h.entries = tree.Entries()
	h.head, h.latches, err = w.State()
	return h, err
}

package restore

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gitlatch/gitlatch/internal/restore/split"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A SplitReport is what a run did about seeds, or, of a dry run, would do.
type SplitReport struct {
	Site      string
	Cluster   string // UID of the cluster
	Declared  string // UID of the cluster that the record is of; "" is unknown
	At        time.Time
	DryRun    bool
	Releasing bool // seeds are taken back

	Seeded   []split.Seed
	Standing []split.Standing // that were there, and stay
	Taken    []split.Standing // that were taken back
	Left     []split.Left
	Problems []error
}

// Err returns what failed or needs a person; nil where nothing does.
func (r SplitReport) Err() error {
	err := errors.Join(r.Problems...)
	if n := len(r.Left); n > 0 {
		err = errors.Join(err, fmt.Errorf("%s not seeded: see why, and decide; name the others to go on without", term.Count(n, "rollout")))
	}
	return err
}

// WriteSplit writes the report for a person: what is seeded, what stays, what is
// left and why, and a line of counts.
func WriteSplit(w io.Writer, r SplitReport) error {
	var b strings.Builder
	if len(r.Seeded) > 0 {
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "WORKLOAD\tLOST AT\tPODS\tBEFORE\tTARGET\tSEED")
		for _, s := range r.Seeded {
			fmt.Fprintf(t, "%s\t%d %%\t%d\t%d\t%s\t%s\n", term.Name(s.ID), s.Reached, s.Replicas, s.Pods, target(s), s.Name)
		}
		_ = t.Flush() // to a builder, which takes all
	}
	for _, s := range r.Seeded {
		if s.Halted {
			fmt.Fprintf(&b, "notice: %s was halted, and goes on once it is created: kubectl rollout pause keeps it\n", term.Name(s.ID))
		}
	}
	for _, s := range r.Standing {
		fmt.Fprintf(&b, "%s/%s: %s\n", s.Namespace, s.Name, stands(s))
	}
	for _, s := range r.Taken {
		fmt.Fprintf(&b, "%s/%s: %s taken back, with %s\n", s.Namespace, s.Name, r.was("is", "would be"), term.Count(int(s.Pods), "pod"))
	}
	for _, left := range r.Left {
		fmt.Fprintf(&b, "left: %s %s\n", term.Name(left.ID), left.Text)
	}
	fmt.Fprintln(&b, r.summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// target says how many pods of the target come up beside a seed.
func target(s split.Seed) string {
	if s.Surge > 0 {
		return fmt.Sprintf("%d, %d of them surge", s.Target, s.Surge)
	}
	return fmt.Sprint(s.Target)
}

func stands(s split.Standing) string {
	if s.Adopter == "" {
		return fmt.Sprintf("seeded already, %d of %s ready", s.Ready, term.Count(int(s.Pods), "pod"))
	}
	return fmt.Sprintf("adopted by %s, %d of %s ready", s.Adopter, s.Ready, term.Count(int(s.Pods), "pod"))
}

func (r SplitReport) was(did, would string) string {
	if r.DryRun {
		return would
	}
	return did
}

func (r SplitReport) summary() string {
	pods := int64(0)
	for _, s := range r.Seeded {
		pods += int64(s.Pods)
	}
	var text string
	switch {
	case r.Releasing && len(r.Taken) == 0:
		return "no seed to take back"
	case r.Releasing:
		text = r.was("took back ", "would take back ") + term.Count(len(r.Taken), "seed")
	case len(r.Seeded) == 0:
		return "nothing to seed"
	default:
		text = fmt.Sprintf("%s%s with %d pods", r.was("seeded ", "would seed "), term.Count(len(r.Seeded), "rollout"), pods)
	}
	if r.DryRun {
		return text + "\nnothing was written: --yes does it"
	}
	if r.Releasing {
		return text
	}
	return text + "; now let what creates the Deployments go on"
}

// A SplitDocument is a report for machines. Fields are added and never changed.
type SplitDocument struct {
	Site     string    `json:"site"`
	Cluster  string    `json:"cluster"`
	Declared string    `json:"declared,omitempty"` // UID of the cluster that the record is of
	At       time.Time `json:"at"`
	DryRun   bool      `json:"dryRun"`

	Seeded   []SeedDocument     `json:"seeded,omitempty"` // or, of a dry run, to be seeded
	Standing []StandingDocument `json:"standing,omitempty"`
	Taken    []StandingDocument `json:"taken,omitempty"` // back
	Left     []LeftDocument     `json:"left,omitempty"`
	Problems []string           `json:"problems,omitempty"`
}

// A SeedDocument is one seed. Its counts are in pods.
type SeedDocument struct {
	Workload   string `json:"workload"`
	ReplicaSet string `json:"replicaSet"`
	Reached    int32  `json:"reached"` // of the rollout, in percent
	Replicas   int32  `json:"replicas"`
	Before     int32  `json:"before"` // seeded, of the template before
	Target     int32  `json:"target"` // that come up at once beside them
	Surge      int32  `json:"surge"`  // those of the target beyond replicas
	Halted     bool   `json:"halted,omitempty"`
}

// A StandingDocument is a seed that is, or was, in the cluster.
type StandingDocument struct {
	ReplicaSet string `json:"replicaSet"` // with its namespace
	Pods       int32  `json:"pods"`
	Ready      int32  `json:"ready"`
	Adopter    string `json:"adopter,omitempty"`
}

// NewSplitDocument returns the report as machines read it.
func NewSplitDocument(r SplitReport) SplitDocument {
	d := SplitDocument{Site: r.Site, Cluster: r.Cluster, Declared: r.Declared, At: r.At, DryRun: r.DryRun,
		Standing: standing(r.Standing), Taken: standing(r.Taken)}
	for _, s := range r.Seeded {
		d.Seeded = append(d.Seeded, SeedDocument{s.ID.String(), s.Name, s.Reached, s.Replicas, s.Pods, s.Target, s.Surge, s.Halted})
	}
	for _, l := range r.Left {
		d.Left = append(d.Left, LeftDocument{l.ID.String(), string(l.Reason), l.Text})
	}
	for _, p := range r.Problems {
		d.Problems = append(d.Problems, p.Error())
	}
	return d
}

func standing(all []split.Standing) (documents []StandingDocument) {
	for _, s := range all {
		documents = append(documents, StandingDocument{s.Namespace + "/" + s.Name, s.Pods, s.Ready, s.Adopter})
	}
	return documents
}

package score_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/score"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	now = time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
)

// looked returns a sample of web alone: 187 pods run, and 200 are in git and in the
// overlay.
func looked() score.Look {
	set := policy.DefaultSet()
	set.Latch = true
	return score.Look{
		Tick: tick.Report{
			Site: "prod", Set: set,
			Fleet:   workload.Fleet{Cluster: "uid", At: now, Samples: []workload.Sample{{ID: web, Scale: &workload.Scale{Desired: 187, Ready: 180, Driver: workload.DrivenByHPA, Min: 3, Max: 500}, Rollout: &workload.Rollout{}}}},
			Decided: policy.Decided{Decisions: []policy.Decision{{ID: web, Verdict: policy.Quiet, Text: "within", Policy: "default"}}},
		},
		Doctor: doctor.Report{Site: "prod", Workloads: []doctor.Workload{{ID: web, Live: new(int32(187)), Level: 200, Start: at(200)}}, Room: map[string]int64{}},
		Tree:   checkpoint.Tree{Records: map[string]checkpoint.Record{}},
		Ages:   map[workload.ID]history.Age{web: {Since: now.Add(-48 * time.Hour), Commit: "abc"}},
		Branch: "main", Commit: "def", MinCoverage: 0.95,
	}
}

// at returns an observed start.
func at(pods int32) doctor.Start { return doctor.Start{Basis: doctor.Observed, Low: pods, High: pods} }

// decides replaces the decision about web.
func decides(l *score.Look, verdict policy.Verdict, reason policy.Reason, text string) {
	l.Tick.Decisions[0].Verdict, l.Tick.Decisions[0].Reason, l.Tick.Decisions[0].Text = verdict, reason, text
}

// lowered adds a finding that lowers the start of web.
func lowered(l *score.Look, trap doctor.Trap, start int32) {
	f := doctor.Finding{Trap: trap, Subjects: []string{"shop/web"}, Text: "because"}
	l.Doctor.Findings = append(l.Doctor.Findings, f)
	w := &l.Doctor.Workloads[0]
	w.Lowers, w.Start = append(w.Lowers, doctor.Lower{Trap: trap, Text: "because"}), at(start)
}

func TestCausesOfWhatLacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		make   func(l *score.Look)
		lacks  int32
		causes string // names, in order
		says   string
	}{
		{"nothing lacks", func(*score.Look) {}, 0, "", ""},
		{"a trap", func(l *score.Look) { lowered(l, doctor.NotApplied, 1) }, 186, "not-applied", "because"},
		{"a trap that takes nothing that is needed", func(l *score.Look) { lowered(l, doctor.ReplicasReset, 190) }, 0, "", ""},
		{"declared low", func(l *score.Look) {
			l.Doctor.Workloads[0].Level, l.Doctor.Workloads[0].Start = 100, at(100)
			decides(l, policy.Cross, "", "187 rounds to 200")
		}, 87, "declared-low", "The level in git is 100, but the workload needs 187 pods"},
		{"frozen, and a trap besides", func(l *score.Look) {
			l.Doctor.Workloads[0].Level = 100
			lowered(l, doctor.NotApplied, 1)
			decides(l, policy.Frozen, policy.ReasonYield, "a person set its entry")
		}, 186, "not-applied yield", "because"},
		{"git's own max", func(l *score.Look) {
			l.Doctor.Workloads[0].Level = 150
			lowered(l, doctor.MaxUnderNeed, 150)
		}, 37, "max-under-need", "because"},
		{"not merged", func(l *score.Look) {
			l.Doctor.Workloads[0].Level, l.Doctor.Workloads[0].Start = 100, at(100)
			l.Tick.Latches = latch.LatchesOf(map[workload.ID]latch.Latch{web: {ID: web, Proposal: &latch.Offer{Entry: checkpoint.Entry{Replicas: 200}}}})
		}, 87, "not-merged", "sets the level of the workload to 200 is not merged"},
		{"nothing is declared", func(l *score.Look) {
			l.Doctor.Workloads[0].Level, l.Doctor.Workloads[0].Start = 0, at(1)
			decides(l, policy.Pending, policy.ReasonBudget, "nothing is left")
		}, 186, "budget", "nothing is left"},
		{"nothing is declared, for no reason", func(l *score.Look) {
			l.Doctor.Workloads[0].Level, l.Doctor.Workloads[0].Start = 0, at(1)
			decides(l, policy.Pending, "", "too soon")
		}, 186, "not-declared", "too soon"},
		{"rounded to the nearest", func(l *score.Look) {
			l.Doctor.Workloads[0].Level, l.Doctor.Workloads[0].Start = 150, at(150)
			l.Tick.Set.Default = policy.Presets()["closest"]
		}, 37, "rounded-down", "set round: up"},
		{"headroom needs less", func(l *score.Look) {
			l.Doctor.Workloads[0].Level, l.Doctor.Workloads[0].Start = 150, at(150)
			l.Tick.Set.Default.Round = policy.RoundHeadroom
			l.Tick.Samples[0].Scale.Target = 0.75
		}, 0, "", ""},
		{"a quota", func(l *score.Look) {
			l.Doctor.Room["shop"] = 100
			l.Doctor.Findings = append(l.Doctor.Findings, doctor.Finding{Trap: doctor.Quota, Subjects: []string{"shop"}, Text: "because"})
		}, 87, "quota", "100 of 200"},
		{"a quota of another namespace", func(l *score.Look) { l.Doctor.Room["pay"] = 1 }, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := looked()
			c.make(&l)
			d := score.Document(l)
			w := d.Workloads[0]
			var names, texts []string
			for _, cause := range w.Causes {
				names, texts = append(names, cause.Name), append(texts, cause.Text+" "+cause.Fix)
			}
			if w.Missing != c.lacks || strings.Join(names, " ") != c.causes || !strings.Contains(strings.Join(texts, "\n"), c.says) {
				t.Errorf("lacks %d, want %d: %q, %q", w.Missing, c.lacks, names, texts)
			}
			if covered := float64(*w.Need-w.Missing) / float64(*w.Need); w.Coverage == nil || *w.Coverage != covered || *d.Fleet.Coverage != covered || w.Low != (covered < 0.95) || d.Passed == w.Low {
				t.Errorf("coverage %v, fleet %+v, passed %v", w.Coverage, d.Fleet, d.Passed)
			}
			for _, f := range d.Findings {
				if (f.Missing > 0) != (c.lacks > 0) || f.Missing != int64(c.lacks) {
					t.Errorf("finding %+v", f)
				}
			}
		})
	}
}

// The surplus of a workload is relative to its desired pods, and does not offset the
// missing pods of another workload.
func TestTheSurplusOfARebuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		make          func(l *score.Look)
		of            int32 // surplus of web
		all, stuck    int64
		live, rebuilt int64
	}{
		{"rounded up", func(*score.Look) {}, 13, 13, 0, 187, 200},
		{"nothing drives it", func(l *score.Look) { l.Tick.Samples[0].Scale.Driver = workload.DrivenByNothing }, 13, 13, 13, 187, 200},
		{"another workload lacks pods", func(l *score.Look) {
			*l = beside(*l, "other", 20) // git has 10 pods for it
		}, 13, 13, 0, 207, 210},
		{"it lacks pods, and another has a surplus", func(l *score.Look) {
			*l = beside(*l, "other", 4)
			l.Doctor.Workloads[0].Start = at(100)
		}, 0, 6, 6, 191, 110},
		{"with headroom it needs less than the desired pods", func(l *score.Look) {
			l.Tick.Set.Default.Round = policy.RoundHeadroom
			l.Tick.Samples[0].Scale.Target = 0.75
			l.Doctor.Workloads[0].Start = at(160)
		}, 0, 0, 0, 187, 160},
		{"a quota", func(l *score.Look) { l.Doctor.Room["shop"] = 190 }, 3, 3, 0, 187, 190},
		{"it needs no pods", func(l *score.Look) { l.Tick.Samples[0].Scale.Desired = 0 }, 0, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := looked()
			c.make(&l)
			d := score.Document(l)
			f := d.Fleet
			if f.Surplus != c.all || f.SurplusStuck != c.stuck || f.Live != c.live || f.Rebuilt != c.rebuilt {
				t.Errorf("fleet %+v", f)
			}
			for _, w := range d.Workloads {
				if w.Name == "web" && (w.Surplus != c.of || w.SurplusStuck != (c.of > 0 && c.stuck > 0)) {
					t.Errorf("surplus %d, stuck %v", w.Surplus, w.SurplusStuck)
				}
			}
		})
	}
}

func TestWhatHasNoCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, cause, nothing string
		make                 func(l *score.Look)
	}{
		{"it does not run", "not-running", "but git has levels for 1 workload", func(l *score.Look) { l.Tick.Samples, l.Tick.Decisions = nil, nil }},
		{"its scale is unknown", "unread", "the need of 1 workload is unknown", func(l *score.Look) {
			l.Tick.Samples[0].Scale = nil
			decides(l, policy.Frozen, policy.ReasonUnread, "its scale is unknown")
		}},
		{"it was not seen", "unread", "the need of 1 workload is unknown", func(l *score.Look) {
			l.Tick.Samples, l.Tick.Decisions, l.Tick.Unread = nil, nil, []workload.Unread{{Part: "deployments", Why: "forbidden"}}
		}},
		{"it is scaled to zero", "suspended", "but git has levels for 1 workload", func(l *score.Look) {
			l.Tick.Samples[0].Scale.Desired = 0
			decides(l, policy.Frozen, policy.ReasonSuspended, "it is scaled to zero")
		}},
		{"a person took it out", "opted-out", "git has no level", func(l *score.Look) {
			l.Doctor.Workloads[0].Level, l.Doctor.Workloads[0].Start = 0, at(1)
			decides(l, policy.Skip, policy.ReasonOptedOut, "a person deleted its entry")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := looked()
			c.make(&l)
			d := score.Document(l)
			w := d.Workloads[0]
			if w.Coverage != nil || w.Missing != 0 || w.With != nil || len(w.Causes) != 1 || w.Causes[0].Name != c.cause || !strings.Contains(d.Fleet.Nothing, c.nothing) || d.Fleet.Unscored != 1 || d.Fleet.Workloads != 0 || d.Passed || (w.Unknown != "") != (c.cause == "unread") || (d.Fleet.NeedUnknown == 1) != (c.cause == "unread") {
				t.Errorf("%+v, fleet %+v", w, d.Fleet)
			}
		})
	}
}

// beside returns a sample of web and of another workload, which has the given live
// replicas, and 10 in git and in the overlay.
func beside(l score.Look, name string, desired int32) score.Look {
	other := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
	l.Tick.Samples = append(l.Tick.Samples, workload.Sample{ID: other, Scale: &workload.Scale{Desired: desired, Ready: desired}, Rollout: &workload.Rollout{}})
	l.Tick.Decisions = append(l.Tick.Decisions, policy.Decision{ID: other, Verdict: policy.Quiet})
	l.Doctor.Workloads = append(l.Doctor.Workloads, doctor.Workload{ID: other, Live: new(int32(desired)), Level: 10, Start: at(10)})
	return l
}

// An unknown workload does not count as desired or as covered. A drill during a mass
// drop proves nothing.
func TestWhatIsKnownInPartDoesNotPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		make   func(l *score.Look)
		says   string // text of a notice
		passed bool
		drop   bool
	}{
		{"all is known", func(*score.Look) {}, "", true, false},
		{"one is not", func(l *score.Look) {
			l.Tick.Samples[1].Scale, l.Tick.Samples[1].Unknown = nil, "generation 7 is not observed yet"
		}, "the need of 1 workload is unknown. Coverage leaves them out", false, false},
		{"one is gone", func(l *score.Look) { l.Tick.Samples, l.Tick.Decisions = l.Tick.Samples[:1], l.Tick.Decisions[:1] }, "git has levels for 1 workload that the cluster does not have", true, false},
		{"what nobody latches", func(l *score.Look) {
			l.Tick.Samples[1].Scale, l.Tick.Decisions[1].Verdict, l.Doctor.Workloads[1].Level = nil, policy.Skip, 0
		}, "", true, false},
		{"a mass drop", func(l *score.Look) { l.Tick.Head.Drop = &latch.Drop{Since: now, Workloads: 13} }, "a mass drop started at 2026-11-20T09:15:00Z, 13 workloads at once. Coverage compares with the live replicas", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := beside(looked(), "other", 8)
			c.make(&l)
			d := score.Document(l)
			if *d.Fleet.Coverage != 1 || d.Fleet.Nothing != "" || d.Passed != c.passed || d.MassDrop != c.drop {
				t.Errorf("fleet %+v, passed %v, mass drop %v", d.Fleet, d.Passed, d.MassDrop)
			}
			if notices := strings.Join(d.Notices, "\n"); !strings.Contains(notices, c.says) || (notices == "") != (c.says == "") {
				t.Errorf("notices %q", d.Notices)
			}
			if headline := d.Headline(); strings.Contains(headline, "known needed pods") != (d.Fleet.NeedUnknown > 0) || strings.Contains(headline, "mass drop") != c.drop {
				t.Error(headline)
			}
		})
	}
}

// An unknown start makes the coverage a range. Only the lower end of the range is proven.
func TestAnUnknownStartIsARange(t *testing.T) {
	t.Parallel()
	l := beside(looked(), "other", 10)
	l.Doctor.Workloads[1].Start = doctor.Start{Low: 2, High: 10, Text: "nothing shows the order"}
	l.Doctor.Workloads[1].Without = doctor.Start{Low: 0, High: 4}
	l.Doctor.Workloads[0].Without = at(1)
	l.Doctor.Findings = []doctor.Finding{{Trap: doctor.NotFirst, Subjects: []string{"shop/deployment/other"}, Text: "because"}}
	l.Doctor.Workloads[1].Lowers = []doctor.Lower{{Trap: doctor.NotFirst, Text: "because"}}
	d := score.Document(l)
	f := d.Fleet
	if f.Unknown != 1 || f.Unscored != 0 || f.Covered != 189 || f.CoveredAtMost != 197 || f.Need != 197 || f.BareAtLeast != 1 || f.BareAtMost != 5 || f.Low != 1 || *f.Coverage != 189./197 || *f.AtMost != 1 {
		t.Errorf("fleet %+v", f)
	}
	w := d.Workloads[0]
	if w.Name != "other" || w.Start != (drill.Start{Basis: "unknown", AtLeast: 2, AtMost: 10, Text: "nothing shows the order"}) || *w.Coverage != 0.2 || w.Missing != 8 || len(w.Causes) != 1 || w.Causes[0].Name != "order-unknown" {
		t.Errorf("%+v", w)
	}
	if one := d.Findings[0]; len(one.Workloads) != 1 || one.Missing != 8 || one.Basis != "unknown" {
		t.Errorf("finding %+v", one)
	}
	if got := d.Headline(); got != "gitlatch prod: a rebuild starts with 95.9 % to 100 % of the needed pods (minimum 95 %)" || !d.Passed {
		t.Errorf("%s, passed %v", got, d.Passed)
	}
	l.MinCoverage = 0.96
	d = score.Document(l)
	if got := d.Headline(); got != "gitlatch prod: a rebuild starts with 95.9 % to 100 % of the needed pods, so that the minimum of 96 % is not proven" || d.Passed {
		t.Errorf("%s, passed %v", got, d.Passed)
	}
	if want := "the number of pods at the start of 1 workload is unknown. The lower coverage uses the lowest possible number, and the higher coverage uses the highest"; len(d.Notices) != 1 || d.Notices[0] != want {
		t.Errorf("notices %q", d.Notices)
	}
	var table strings.Builder
	if err := d.Table(&table, term.Style{}); err != nil || !strings.Contains(table.String(), "shop/other  10    10      2 to 10     20 % to 100 %") || !strings.Contains(strings.Join(strings.Fields(table.String()), " "), "starts 189 to 197 of the 197 needed pods. Without gitlatch, it starts 1 to 5 pods.") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

// A start that a user states counts, and the drill reports the statement.
func TestAStatedStartCounts(t *testing.T) {
	t.Parallel()
	l := looked()
	l.Doctor.Workloads[0].Start.Basis = doctor.Stated
	d := score.Document(l)
	if d.Fleet.Stated != 1 || !d.Passed || len(d.Notices) != 1 || !strings.Contains(d.Notices[0], "which a user states") {
		t.Errorf("passed %v, %+v, %q", d.Passed, d.Fleet, d.Notices)
	}
}

// Each case is on the edge between two results.
func TestTheEdgesOfAScore(t *testing.T) {
	t.Parallel()
	t.Run("what is just covered enough is not low", func(t *testing.T) {
		t.Parallel()
		l := looked()
		l.MinCoverage = 0.5
		l.Tick.Samples[0].Scale.Desired, l.Doctor.Workloads[0].Start = 200, at(100)
		if d := score.Document(l); *d.Workloads[0].Coverage != 0.5 || d.Workloads[0].Low || d.Fleet.Low != 0 || !d.Passed {
			t.Errorf("%+v, passed %v", d.Workloads[0], d.Passed)
		}
	})
	t.Run("what is opted out and still declared is scored", func(t *testing.T) {
		t.Parallel()
		l := looked()
		decides(&l, policy.Skip, policy.ReasonOptedOut, "an annotation says so")
		if w := score.Document(l).Workloads[0]; w.Coverage == nil || *w.Coverage != 1 {
			t.Errorf("%+v", w)
		}
	})
	t.Run("a latch that froze for another reason does not say since when", func(t *testing.T) {
		t.Parallel()
		l := looked()
		decides(&l, policy.Frozen, policy.ReasonUnready, "only 180 of 187")
		l.Tick.Latches = latch.LatchesOf(map[workload.ID]latch.Latch{web: {ID: web, Freeze: latch.Freeze{Reason: "yield", Since: now.Add(-time.Hour)}}})
		if f := score.Document(l).Workloads[0].Frozen; f == nil || !f.Since.IsZero() {
			t.Errorf("%+v", f)
		}
	})
	t.Run("what is proposed and declared already is not proposed", func(t *testing.T) {
		t.Parallel()
		l := looked()
		l.Tick.Latches = latch.LatchesOf(map[workload.ID]latch.Latch{web: {ID: web, Proposal: &latch.Offer{Entry: checkpoint.Entry{Replicas: 200}}}})
		if w := score.Document(l).Workloads[0]; w.Proposed != nil {
			t.Errorf("proposed %d", *w.Proposed)
		}
	})
	t.Run("of those alike what lacks most is the worst", func(t *testing.T) {
		t.Parallel()
		l := beside(beside(looked(), "a", 20), "z", 200)
		l.Doctor.Workloads[2].Start = at(100)
		d := score.Document(l)
		if d.Workloads[0].Name != "z" || d.Workloads[1].Name != "a" || *d.Workloads[0].Coverage != *d.Workloads[1].Coverage {
			t.Errorf("%s, then %s", d.Workloads[0].Name, d.Workloads[1].Name)
		}
	})
}

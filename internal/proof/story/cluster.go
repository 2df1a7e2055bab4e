package story

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func (s *Story) workload(w []string) error {
	who := ID(w[0])
	sample, ok := s.Fleet[who]
	if !ok {
		sample = workload.Sample{ID: who}
	}
	scale, rollout := workload.Scale{Driver: workload.DrivenByHPA, Min: 1, Max: 20000}, workload.Rollout{}
	if sample.Scale != nil {
		scale = *sample.Scale
	}
	if sample.Rollout != nil {
		rollout = *sample.Rollout
	}
	sample.Scale, sample.Rollout, sample.Unknown = &scale, &rollout, ""
	read := &numbers{}
	for _, word := range w[1:] {
		field, value, _ := strings.Cut(word, "=")
		switch field {
		case "ready":
			scale.Ready = read.number(value)
		case "min":
			scale.Min = read.number(value)
		case "max":
			scale.Max = read.number(value)
		case "driver":
			scale.Driver = workload.Driver(value)
		case "target":
			scale.Target = float64(read.number(value)) / 100
		case "blind":
			scale.Blind = value
		case "load": // 140%: the highest metric, relative to its target; unknown
			scale.Load = read.share(value)
		case "demand": // 3000: its demand; unknown
			scale.Demand = read.figure(value)
		case "hand": // kubectl: the user who wrote the replicas last; "nobody" for none
			scale.Hand, scale.Handed = value, s.Now
			if value == "nobody" {
				scale.Hand, scale.Handed = "", time.Time{}
			}
		case "brake": // 4h: a restore set a brake just now, which ends then; unreadable; released
			scale.Brake = workload.Brake{On: "HPA " + who.Name}
			if d, err := time.ParseDuration(value); err == nil {
				scale.Brake.Until = s.Now.Add(d)
			} else if value == "released" {
				scale.Brake = workload.Brake{}
			}
		case "rollout":
			rollout.InFlight = value == "on"
		case "stale":
			sample.Scale, sample.Rollout, sample.Unknown = nil, nil, "generation 7 is not observed yet"
		case "terminating":
			sample.Terminating = true
		case "policy": // batch: the policy that its annotation names
			sample.Policy = value
		case "optout":
			sample.OptOut = value == "on"
		default:
			scale.Desired, scale.Ready = read.number(word), read.number(word)
		}
	}
	s.Fleet[who] = sample
	return read.err
}

func (s *Story) rolls(w []string) error {
	who := ID(w[0])
	sample, ok := s.Fleet[who]
	if !ok {
		sample = workload.Sample{ID: who}
	}
	var available, desired int32
	if _, err := fmt.Sscanf(w[3], "%d/%d", &available, &desired); err != nil {
		return err
	}
	template := func(hash string, pods int32) workload.Template {
		return workload.Template{Hash: hash, Images: map[string]string{"app": "web:" + hash}, Desired: pods, Available: pods, ImagesOnly: hash != w[2]}
	}
	r := workload.Rollout{InFlight: true, Desired: desired, Templates: []workload.Template{
		template(w[2], available), template(w[1], desired-available),
	}}
	for i := 4; i < len(w); i++ {
		field, value, _ := strings.Cut(w[i], "=")
		switch field {
		case "failed":
			r.Failure = value
		case "halted":
			r.Halted = value
		case "asked": // the desired pods of the target, independent of the available ones
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			r.Templates[0].Desired = int32(n)
		case "alone": // no pods of the previous template are left
			r.Templates[1] = template(w[1], 0)
		case "unjudged": // no condition reports a lack of progress
			r.Unjudged = true
		case "older":
			r.Templates[0].Since, r.Templates[1].Since = s.Now.Add(-2*time.Hour), s.Now.Add(-time.Hour)
		default:
			n, err := strconv.Atoi(w[i+1])
			if err != nil {
				return err
			}
			r.Templates = append(r.Templates, template(field, int32(n)))
			i++
		}
	}
	sample.Rollout = &r
	s.Fleet[who] = sample
	return nil
}

func (s *Story) restore(w []string) error {
	if w[0] == "release" {
		for id := range s.Fleet {
			s.rescale(id, func(scale *workload.Scale) { scale.Brake = workload.Brake{} })
		}
		return nil
	}
	read, o := &numbers{}, plan.Options{}
	if len(w) > 1 {
		o.Factor = read.share(w[1])
	}
	hold, err := time.ParseDuration(w[0])
	tree, broken := s.Tree()
	if err := errors.Join(err, broken, read.err); err != nil {
		return err
	}
	for _, r := range plan.Make(tree.Entries(), s.plannable(), o).All() {
		s.rescale(r.ID, func(scale *workload.Scale) {
			scale.Desired = max(scale.Desired, r.To)
			scale.Ready = scale.Desired
			if until := s.Now.Add(hold); len(r.Scalers) > 0 && until.After(scale.Brake.Until) {
				scale.Brake = workload.Brake{On: "HPA " + r.ID.Name, Until: until}
			}
		})
	}
	return nil
}

// plannable returns the workloads as a restore sees them.
func (s *Story) plannable() map[workload.ID]plan.Workload {
	live := map[workload.ID]plan.Workload{}
	for id, sample := range s.Fleet {
		one := plan.Workload{ID: id, Terminating: sample.Terminating, OptOut: sample.OptOut, Unknown: sample.Unknown}
		if scale := sample.Scale; scale != nil {
			one.Replicas, one.Ready = scale.Desired, scale.Ready
			if scale.Driver == workload.DrivenByHPA {
				one.Scalers = []plan.Scaler{{Kind: plan.HPA, Namespace: id.Namespace, Name: id.Name, Max: scale.Max}}
			}
		}
		live[id] = one
	}
	return live
}

// rescale changes the scale of a workload, unless it is unknown.
func (s *Story) rescale(id workload.ID, change func(*workload.Scale)) {
	sample := s.Fleet[id]
	if sample.Scale == nil {
		return
	}
	scale := *sample.Scale
	change(&scale)
	sample.Scale = &scale
	s.Fleet[id] = sample
}

// numbers parses numbers, and remembers the first error.
type numbers struct{ err error }

func (r *numbers) number(text string) int32 {
	n, err := strconv.Atoi(text)
	r.err = errors.Join(r.err, err)
	return int32(n)
}

// share parses 140% as 1.4, and unknown as 0.
func (r *numbers) share(text string) float64 {
	if n := r.figure(strings.TrimSuffix(text, "%")); n != nil {
		return *n / 100
	}
	return 0
}

// figure parses a number; unknown is nil.
func (r *numbers) figure(text string) *float64 {
	if text == "unknown" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	r.err = errors.Join(r.err, err)
	return &n
}

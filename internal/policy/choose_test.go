package policy_test

import (
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	s := workload.Sample{
		ID:     workload.ID{Namespace: "shop-eu", Kind: workload.Deployment, Name: "web.v2"},
		Labels: workload.LabelsOf(map[string]string{"tier": "front", "team": ""}),
	}
	tests := []struct {
		name  string
		match policy.Match
		want  bool
	}{
		{"an empty match is all", policy.Match{}, true},
		{"a namespace to the letter", policy.Match{Namespaces: []string{"shop-eu"}}, true},
		{"part of a namespace", policy.Match{Namespaces: []string{"shop"}}, false},
		{"a pattern", policy.Match{Namespaces: []string{"shop-*"}}, true},
		{"any of several", policy.Match{Namespaces: []string{"pay", "*-eu"}}, true},
		{"none of several", policy.Match{Namespaces: []string{"pay", "*-us"}}, false},
		{"a name", policy.Match{Names: []string{"web*"}}, true},
		{"another name", policy.Match{Names: []string{"api*"}}, false},
		{"a broken pattern matches nothing", policy.Match{Names: []string{"web["}}, false},
		{"a kind", policy.Match{Kinds: []workload.Kind{workload.StatefulSet, workload.Deployment}}, true},
		{"another kind", policy.Match{Kinds: []workload.Kind{workload.StatefulSet}}, false},
		{"a label", policy.Match{Labels: map[string]string{"tier": "front"}}, true},
		{"a label of another value", policy.Match{Labels: map[string]string{"tier": "back"}}, false},
		{"an empty label that is there", policy.Match{Labels: map[string]string{"team": ""}}, true},
		{"an empty label that is not there", policy.Match{Labels: map[string]string{"owner": ""}}, false},
		{"all labels", policy.Match{Labels: map[string]string{"tier": "front", "team": "x"}}, false},
		{"all fields", policy.Match{Namespaces: []string{"shop-*"}, Names: []string{"api"}}, false},
	}
	for _, tt := range tests {
		if got := tt.match.Matches(s); got != tt.want {
			t.Errorf("%s: %+v is %v", tt.name, tt.match, got)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	named := func(name string, change func(*policy.Policy)) policy.Policy {
		p := policy.Presets()["cope"]
		if p.Name = name; change != nil {
			change(&p)
		}
		return p
	}
	set := policy.Set{
		Default: named("default", nil),
		Rules: []policy.Rule{
			{Match: policy.Match{Namespaces: []string{"shop"}, Names: []string{"web"}}, Policy: named("first", nil)},
			{Match: policy.Match{Namespaces: []string{"shop"}}, Policy: named("second", nil)},
			{Match: policy.Match{Kinds: []workload.Kind{workload.StatefulSet}}, Policy: named("still", func(p *policy.Policy) { p.Undriven = true })},
			{Match: policy.Match{Names: []string{"scratch"}}, Policy: named("none", func(p *policy.Policy) { p.Scale = policy.ModeIgnore })},
			{Match: policy.Match{Names: []string{"quiet"}}, Policy: named("told", func(p *policy.Policy) { p.Scale = policy.ModeReport })},
			{Match: policy.Match{Namespaces: []string{"kube-*"}, Names: []string{"dns"}}, Policy: named("pattern", nil)},
			{Match: policy.Match{Namespaces: []string{"kube-system"}, Names: []string{"metrics"}}, Policy: named("system", nil)},
			{Match: policy.Match{Namespaces: []string{"risky"}}, Policy: named("twice", func(p *policy.Policy) { p.Review = true })},
			{Match: policy.Match{Namespaces: []string{"pay"}, Names: []string{"jobs"}}, Policy: named("twice", nil)},
		},
	}
	driven := &workload.Scale{Desired: 7, Driver: workload.DrivenByHPA}
	by := func(d workload.Driver) *workload.Scale { return &workload.Scale{Desired: 7, Driver: d} }
	tests := []struct {
		name   string
		id     string
		scale  *workload.Scale
		asks   string
		optout bool
		policy string
		skip   policy.Reason
	}{
		{"what no rule matches", "other/deployment/web", driven, "", false, "default", ""},
		{"the first rule that matches", "shop/deployment/web", driven, "", false, "first", ""},
		{"a later rule", "shop/deployment/api", driven, "", false, "second", ""},
		{"the policy that an annotation names", "shop/deployment/web", driven, "still", false, "still", ""},
		{"an annotation that names another namespace's policy", "other/deployment/web", driven, "second", false, "default", ""},
		{"an annotation that names a policy of a pattern of namespaces", "kube-public/deployment/web", driven, "pattern", false, "pattern", ""},
		{"an annotation that names a policy of other namespaces by a pattern", "shop/deployment/web", driven, "pattern", false, "first", ""},
		{"a name that two policies have", "pay/deployment/web", driven, "twice", false, "twice", ""},
		{"an annotation that names no policy", "shop/deployment/web", driven, "stil", false, "first", ""},
		{"an annotation does not reach the default by name", "shop/deployment/web", driven, "default", false, "first", ""},
		{"an opt-out", "shop/deployment/web", driven, "", true, "first", policy.ReasonOptedOut},
		{"an opt-out that no rule speaks of", "other/deployment/web", driven, "", true, "default", policy.ReasonOptedOut},
		{"a kind without a scale", "shop/daemonset/agent", nil, "", false, "second", policy.ReasonNoScale},
		{"a kind without a scale before an opt-out", "shop/daemonset/agent", nil, "", true, "second", policy.ReasonNoScale},
		{"a kind that the site names", "shop/widget/web", driven, "", false, "first", ""},
		{"scale that the policy ignores", "other/deployment/scratch", driven, "", false, "none", policy.ReasonIgnored},
		{"scale that the policy reports is looked at", "other/deployment/quiet", driven, "", false, "told", ""},
		{"kube-system by default", "kube-system/deployment/web", driven, "", false, "default", policy.ReasonSystem},
		{"kube-system by a pattern is an accident", "kube-system/deployment/dns", driven, "", false, "pattern", policy.ReasonSystem},
		{"kube-system to the letter", "kube-system/deployment/metrics", driven, "", false, "system", ""},
		{"kube-system is not named by an annotation", "kube-system/deployment/dns", driven, "system", false, "system", policy.ReasonSystem},
		{"no autoscaler", "other/deployment/web", by(workload.DrivenByNothing), "", false, "default", policy.ReasonUndriven},
		{"no autoscaler where the policy takes that", "other/statefulset/db", by(workload.DrivenByNothing), "", false, "still", ""},
		{"scaled by some other hand", "other/deployment/web", by(workload.DrivenByScale), "", false, "default", ""},
		{"scaled by KEDA", "other/deployment/web", by(workload.DrivenByKEDA), "", false, "default", ""},
		{"an unknown scale may well be driven", "other/deployment/web", nil, "", false, "default", ""},
	}
	for _, tt := range tests {
		id, err := workload.ParseID(tt.id)
		if err != nil {
			t.Fatal(err)
		}
		p, skip, latched := set.Choose(workload.Sample{ID: id, Scale: tt.scale, Policy: tt.asks, OptOut: tt.optout})
		of := set
		of.Rules = append(slices.Clip(set.Rules), policy.Rule{Policy: set.Default})
		if rest, also, _ := of.Choose(workload.Sample{ID: id, Scale: tt.scale, Policy: tt.asks, OptOut: tt.optout}); rest.Name != p.Name || also.Reason != skip.Reason {
			t.Errorf("%s: with an empty match, policy %q, %+v; want %q, %+v", tt.name, rest.Name, also, p.Name, skip)
		}
		if p.Name != tt.policy || skip.Reason != tt.skip || latched != (tt.skip == "") {
			t.Errorf("%s: policy %q, %q, latched %v; want %q, %q", tt.name, p.Name, skip.Reason, latched, tt.policy, tt.skip)
		}
		if p.Review {
			t.Errorf("%s: it has the policy of namespace risky", tt.name)
		}
		switch {
		case latched:
		case skip.Verdict != policy.Skip || skip.ID != id || skip.Text == "":
			t.Errorf("%s: skipped by %+v", tt.name, skip)
		case tt.scale != nil && skip.Count != 7:
			t.Errorf("%s: skipped without its count: %+v", tt.name, skip)
		}
	}
}

package stack

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	source           = "template.yaml"
	monitoringSource = "infra/monitoring.yaml"
	drillSource      = "infra/drill.yaml"
	restoreSource    = "infra/restore.yaml"
	spokeSource      = "infra/spoke.yaml"
)

// sources are all templates. The first four belong to a site.
var sources = []string{source, monitoringSource, drillSource, restoreSource, spokeSource, endpointsSource, fleetSource}

// A sample is one way to deploy a site.
type sample struct {
	name       string
	provider   string // name of the list with the operations of its git host
	parameters map[string]string
	// beside are the further stacks of the site, by their templates. The parameters are
	// those that differ from the core's output.
	beside map[string]map[string]string
}

const hub = "gitlatch-prod-eu"

// onCodeCommit is the URL of the repository fleet in CodeCommit.
const onCodeCommit = "https://git-codecommit." + region + ".amazonaws.com/v1/repos/fleet"

const standbyARN = "arn:aws:eks:us-west-2:" + account + ":cluster/prod-us-standby"

// samples vary every condition of the template: it is true in one sample and false in
// another.
var samples = []sample{
	{"github", "github", map[string]string{
		"Site":          "prod-eu",
		"ClusterName":   "prod-eu-blue",
		"RepositoryUrl": "https://github.com/example/fleet",
		"Credential":    "gitlatch/github",
		"AlertEmail":    "platform@example.com",
	}, map[string]map[string]string{
		monitoringSource: nil,
		drillSource:      {"DrillBucket": "fleet-reports"},
		restoreSource:    nil,
	}},
	{"codecommit", "codecommit", map[string]string{
		"Site":                   "prod-us",
		"ClusterName":            "prod-us",
		"PeriodMinutes":          "1",
		"ScheduleState":          "DISABLED",
		"RepositoryUrl":          onCodeCommit,
		"Branch":                 "checkpoints/live",
		"SubnetIds":              "subnet-0a1b2c3d,subnet-4e5f6a7b",
		"SecurityGroupIds":       "sg-0a1b2c3d,sg-4e5f6a7b",
		"PermissionsBoundaryArn": "arn:aws:iam::111122223333:policy/boundary",
	}, map[string]map[string]string{
		monitoringSource: nil,
		drillSource: {
			"HubClusterName":    "tools",
			"StandbyClusterArn": standbyARN,
			"DrillSchedule":     "",
		},
		restoreSource: {"RegionSwitchAction": "restore", "RegionSwitchNamespaces": "shop,pay"},
	}},
	{"spoke", "spoke", map[string]string{
		"Site":          "123", // a name that YAML would parse as a number
		"ClusterName":   "edge",
		"PeriodMinutes": "60",
		"RepositoryUrl": "github::https://github.example.com/example/fleet",
		"Credential":    "gitlatch/token",
		"PublishMode":   "proposal",
		"SpokeRoleArn":  "arn:aws:iam::444455556666:role/gitlatch-edge",
		"ClusterRegion": "us-east-2",
		"StateStack":    hub,
	}, map[string]map[string]string{monitoringSource: nil}},
	{"codecommit by proposal", "codecommit", map[string]string{
		"Site":            "prod-ap",
		"ClusterName":     "prod-ap",
		"RepositoryUrl":   onCodeCommit,
		"PublishMode":     "proposal",
		"DemandParameter": "/gitlatch/prod-ap/demand:3",
	}, map[string]map[string]string{drillSource: nil}},
	{"ssh", "url", map[string]string{
		"Site":          "prod-uk",
		"ClusterName":   "prod-uk",
		"RepositoryUrl": "ssh://git@git.example.com/platform/fleet.git",
		"Credential":    "gitlatch/git",
		"SigningKey":    "gitlatch/signing",
	}, map[string]map[string]string{drillSource: nil, restoreSource: nil}},
	{"gitlab", "url", map[string]string{
		"Site":          "prod-ca",
		"ClusterName":   "prod-ca",
		"RepositoryUrl": "gitlab::https://git.example.com/platform/eu/fleet.git",
		"Credential":    "gitlatch/gitlab",
		"PublishMode":   "proposal",
	}, map[string]map[string]string{drillSource: nil, restoreSource: nil}},
}

// spoke returns the parameters of infra/spoke.yaml for the sample of that name.
var spoke = map[string]string{
	"ClusterName": "edge",
	"Site":        "edge",
	"HubRoleArn":  "arn:aws:iam::111122223333:role/gitlatch-123-LatchRole-1A2B3C4D5E6F",
}

// templates are templates by their file names.
type templates map[string]template

// repository returns all templates unchanged.
func repository(t *testing.T) templates {
	t.Helper()
	all := templates{}
	for _, file := range sources {
		all[file] = read(t, file)
	}
	return all
}

// An estate is a set of stacks that are deployed together. Their logical ids are unique.
type estate []deployment

// deployed deploys the stacks of a sample, the core first, together with the stack
// whose state some of them share.
func deployed(t *testing.T, of templates, s sample) estate {
	t.Helper()
	core := deploy(t, of[source], "gitlatch-"+s.parameters["Site"], s.parameters)
	core.imports = deploy(t, read(t, source), hub, samples[0].parameters).exports()
	all := estate{core}
	for _, file := range slices.Sorted(maps.Keys(s.beside)) {
		all = append(all, besideCore(t, of[file], core, s.beside[file]))
	}
	return all
}

// besideCore deploys a template with the line that a core prints. SAM and the AWS CLI
// leave out the parameters that the template does not have.
func besideCore(t *testing.T, of template, core deployment, own map[string]string) deployment {
	t.Helper()
	given := printed(t, core)
	maps.DeleteFunc(given, func(name, _ string) bool {
		_, known := of.section("Parameters")[name]
		return !known
	})
	maps.Copy(given, own)
	d := deploy(t, of, core.stack+"-"+strings.TrimSuffix(filepath.Base(of.name), ".yaml"), given)
	d.imports = maps.Clone(core.imports)
	maps.Copy(d.imports, core.exports())
	return d
}

// printed returns the parameters in the output ParameterOverrides of a core.
func printed(t *testing.T, core deployment) map[string]string {
	t.Helper()
	line := core.text(at(core.template.section("Outputs"), "ParameterOverrides", "Value"))
	all := map[string]string{}
	for pair := range strings.FieldsSeq(line) {
		name, value, found := strings.Cut(pair, "=")
		if _, twice := all[name]; twice || !found || value == "" {
			t.Errorf("%q is not one value of one parameter, in: %s", pair, line)
		}
		all[name] = value
	}
	if strings.ContainsAny(line, "\n\"'$;&|<>()\\") {
		t.Errorf("a shell changes this line, or it is more than one: %s", line)
	}
	return all
}

// resources returns the resources of all stacks.
func (e estate) resources() map[string]any {
	all := map[string]any{}
	for _, d := range e {
		for id, r := range d.resources() {
			if _, twice := all[id]; twice {
				d.t.Errorf("two stacks have a resource %s", id)
			}
			all[id] = r
		}
	}
	return all
}

// has returns the stack with a resource; made is false if no stack creates it.
func (e estate) has(id string) (of deployment, made bool) {
	for _, d := range e {
		if d.makes(id) {
			return d, true
		}
	}
	return e[0], false
}

func (e estate) arn(id string) string {
	d, _ := e.has(id)
	return d.arn(id)
}

func (e estate) physical(id string) string {
	d, _ := e.has(id)
	return d.physical(id)
}

// byHand are further deployments of the templates next to the core, without its line.
var byHand = map[string]map[string]string{
	drillSource: {
		"Site": "123", "ClusterName": "edge", "StateStack": hub,
		"RepositoryUrl": "github::https://github.example.com/example/fleet", "Credential": "gitlatch/token",
	},
	restoreSource: {
		"Site": "123", "ClusterName": "edge",
		"RepositoryUrl": "github::https://github.example.com/example/fleet", "Credential": "gitlatch/token",
	},
}

func TestEachConditionHoldsInOneSampleAndNotInAnother(t *testing.T) {
	t.Parallel()
	of := repository(t)
	found := map[string]map[bool]bool{}
	look := func(d deployment) {
		for name := range d.template.section("Conditions") {
			at := d.template.name + ": " + name
			if found[at] == nil {
				found[at] = map[bool]bool{}
			}
			found[at][d.holds(map[string]any{"Condition": name})] = true
		}
	}
	for _, s := range samples {
		for _, d := range deployed(t, of, s) {
			look(d)
		}
	}
	for file, given := range byHand {
		look(deploy(t, of[file], "by-hand", given))
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !found[name][true] || !found[name][false] {
			t.Errorf("condition %s is the same in all samples: %v", name, found[name])
		}
	}
}

func TestSamplesBreakNoRule(t *testing.T) {
	t.Parallel()
	of := repository(t)
	for _, s := range samples {
		for _, d := range deployed(t, of, s) {
			for _, said := range d.violated() {
				t.Errorf("%s: %s: %s", s.name, d.template.name, said)
			}
		}
	}
	for file, given := range byHand {
		for _, said := range deploy(t, of[file], "by-hand", given).violated() {
			t.Errorf("%s by hand: %s", file, said)
		}
	}
}

func TestRulesSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	cases := []struct {
		sample int
		give   map[string]string
		said   string
	}{
		{0, map[string]string{"ClusterRegion": "us-east-2"}, "ClusterRegion needs SpokeRoleArn, from infra/spoke.yaml deployed there"},
		{0, map[string]string{"SecurityGroupIds": "sg-0a"}, "SecurityGroupIds needs SubnetIds"},
		{0, map[string]string{"SubnetIds": "subnet-0a"}, "SecurityGroupIds must be given with SubnetIds"},
		{2, map[string]string{"AlertEmail": "a@example.com"}, "AlertEmail belongs to the stack that StateStack names"},
	}
	said := map[string]bool{}
	of := read(t, source)
	for _, c := range cases {
		given := maps.Clone(samples[c.sample].parameters)
		maps.Copy(given, c.give)
		if got := deploy(t, of, "s", given).violated(); !slices.Equal(got, []string{c.said}) {
			t.Errorf("%v: said %q, want %q", c.give, got, c.said)
		}
		said[c.said] = true
	}
	for name, rule := range of.section("Rules") {
		for _, assertion := range list(at(rule, "Assertions")) {
			if text := at(assertion, "AssertDescription").(string); !said[text] {
				t.Errorf("no case breaks rule %s: %s", name, text)
			}
		}
	}
}

func TestParametersRefuseWhatWouldBreakTheConfiguration(t *testing.T) {
	t.Parallel()
	bad := map[string][]string{
		"Site":                   {"", "Prod", "-a", `a"b`, "a b"},
		"ClusterName":            {"", `a"`, "-a"},
		"PeriodMinutes":          {"3", "0"},
		"ScheduleState":          {"OFF"},
		"DrillSchedule":          {"daily", "rate(1 day", `rate("1 day")`},
		"DrillBucket":            {"arn:aws:s3:::reports", "a", `ab"`, "Reports"},
		"HubClusterName":         {`a"`, "-a"},
		"StandbyClusterArn":      {"standby", "*", "arn:aws:eks:eu-west-1:111122223333:cluster/*"},
		"DemandParameter":        {"[{workload: shop/web}]", "a b", "a:b", `a"`},
		"FunctionName":           {"", "a:b", "*"},
		"UndeliveredTicksQueue":  {"", "https://sqs", "*"},
		"TopicArn":               {"alerts", "*"},
		"RepositoryUrl":          {"", "http://git.example.com/a.git", "https://me:secret@git.example.com/a.git", "git@git.example.com:a.git", "ssh://git.example.com/a.git", "https://git.example.com", `https://a/b"`, "codecommit::https://a/b"},
		"Credential":             {"arn:aws:secretsmanager:eu-west-1:111122223333:secret:a", "a*"},
		"SigningKey":             {"arn:aws:secretsmanager:eu-west-1:111122223333:secret:a", "a*"},
		"Branch":                 {"", `a"`, "a*", "-a", "a b"},
		"PublishMode":            {"pr"},
		"AlertEmail":             {"platform", "a@example.com,b@example.com"},
		"SpokeRoleArn":           {"*", "arn:aws:iam::444455556666:role/*", "gitlatch"},
		"ClusterRegion":          {"eu", "*"},
		"SubnetIds":              {"subnet-0a,b", "a"},
		"SecurityGroupIds":       {"sg-0a,b", "default"},
		"StateStack":             {"1a", "a_b"},
		"PermissionsBoundaryArn": {"boundary", "*"},
		"RegionSwitchAction":     {"adopt"},
		"RegionSwitchNamespaces": {"shop/web", "shop, pay", "Shop", "*"},
	}
	tried := map[string]bool{}
	for _, file := range []string{source, monitoringSource, drillSource, restoreSource} {
		for name, definition := range read(t, file).section("Parameters") {
			for _, value := range bad[name] {
				if refused(definition, value) == "" {
					t.Errorf("%s of %s takes %q", name, file, value)
				}
			}
			if at(definition, "Type") != "Number" && bad[name] == nil {
				t.Errorf("nothing is tried of %s", name)
			}
			tried[name] = true
		}
	}
	for name := range bad {
		if !tried[name] {
			t.Errorf("there is no parameter %s", name)
		}
	}
}

package stack

import (
	"maps"
	"slices"
	"testing"
)

const (
	source      = "template.yaml"
	spokeSource = "infra/spoke.yaml"
)

// A sample is one way to deploy the template.
type sample struct {
	name       string
	provider   string // how operations of its git host are listed
	parameters map[string]string
}

const hub = "gitlatch-prod-eu"

// samples are as unlike each other as the parameters allow: each condition of
// the template holds in one and not in another.
var samples = []sample{
	{"github", "github", map[string]string{
		"Site":             "prod-eu",
		"ClusterName":      "prod-eu-blue",
		"GitHubRepository": "example/fleet",
		"GitHubCredential": "gitlatch/github",
		"AlertEmail":       "platform@example.com",
		"RestoreState":     "ENABLED",
		"DrillState":       "ENABLED",
		"DrillBucket":      "fleet-reports",
	}},
	{"codecommit", "codecommit", map[string]string{
		"Site":                   "prod-us",
		"ClusterName":            "prod-us",
		"PeriodMinutes":          "1",
		"ScheduleState":          "DISABLED",
		"GitProvider":            "codecommit",
		"CodeCommitRepository":   "fleet",
		"Branch":                 "checkpoints/live",
		"VpcId":                  "vpc-0a1b2c3d",
		"SubnetIds":              "subnet-0a1b2c3d,subnet-4e5f6a7b",
		"ClusterSecurityGroupId": "sg-0a1b2c3d",
		"PermissionsBoundaryArn": "arn:aws:iam::111122223333:policy/boundary",
		"MemorySize":             "256",
		"RestoreState":           "ENABLED",
		"DrillState":             "ENABLED",
		"HubClusterName":         "tools",
		"HubDestination":         "https://0A1B.gr7.eu-west-1.eks.amazonaws.com",
	}},
	{"spoke", "spoke", map[string]string{
		"Site":                   "123", // a name that YAML would take for a number
		"ClusterName":            "edge",
		"PeriodMinutes":          "60",
		"GitHubRepository":       "example/fleet",
		"GitHubLogin":            "token",
		"GitHubCredential":       "gitlatch/token",
		"GitHubCredentialKeyArn": "arn:aws:kms:eu-west-1:111122223333:key/5e9d",
		"GitHubApiUrl":           "https://github.example.com/api/v3",
		"PublishMode":            "proposal",
		"SpokeRoleArn":           "arn:aws:iam::444455556666:role/gitlatch-edge",
		"SpokeExternalId":        "edge-7f3a",
		"ClusterRegion":          "us-east-2",
		"StateStack":             hub,
	}},
	{"codecommit by proposal", "codecommit", map[string]string{
		"Site":                 "prod-ap",
		"ClusterName":          "prod-ap",
		"GitProvider":          "codecommit",
		"CodeCommitRepository": "fleet",
		"PublishMode":          "proposal",
		"AccessEntry":          "none",
		"AlarmState":           "DISABLED",
		"DashboardState":       "DISABLED",
		"Demand":               `[{workload: shop/web, cloudwatch: {namespace: Shop, metric: users}}]`,
	}},
}

// spoke is how infra/spoke.yaml is deployed for the sample of that name.
var spoke = map[string]string{
	"ClusterName": "edge",
	"RoleName":    "gitlatch-edge",
	"HubRoleArn":  "arn:aws:iam::111122223333:role/gitlatch-123-LatchRole-1A2B3C4D5E6F",
	"ExternalId":  "edge-7f3a",
}

// deployed deploys a sample of a template, beside the stack that some share the
// state of.
func deployed(t *testing.T, of template, s sample) deployment {
	t.Helper()
	d := deploy(t, of, "gitlatch-"+s.parameters["Site"], s.parameters)
	d.imports = deploy(t, read(t, source), hub, samples[0].parameters).exports()
	return d
}

func TestEachConditionHoldsInOneSampleAndNotInAnother(t *testing.T) {
	t.Parallel()
	of := read(t, source)
	for _, name := range slices.Sorted(maps.Keys(of.section("Conditions"))) {
		found := map[bool]bool{}
		for _, s := range samples {
			found[deployed(t, of, s).holds(map[string]any{"Condition": name})] = true
		}
		if !found[true] || !found[false] {
			t.Errorf("condition %s is the same in all samples: %v", name, found)
		}
	}
}

func TestSamplesBreakNoRule(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		for _, said := range deployed(t, read(t, source), s).violated() {
			t.Errorf("%s: %s", s.name, said)
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
		{0, map[string]string{"GitHubRepository": ""}, "GitHubRepository must be owner/name"},
		{0, map[string]string{"GitHubCredential": ""}, "GitHubCredential must name the secret that holds it"},
		{0, map[string]string{"InPlace": "[x]"}, "InPlace moved; write it as inPlace of the policy, gitlatch.yaml on the branch, then leave the parameter out"},
		{0, map[string]string{"Kinds": "[{kind: Worker}]"}, "Kinds moved; write it as kinds of the policy, gitlatch.yaml on the branch, then leave the parameter out"},
		{1, map[string]string{"CodeCommitRepository": ""}, "CodeCommitRepository must name the repository"},
		{3, map[string]string{"SpokeRoleArn": "arn:aws:iam::444455556666:role/x"}, "SpokeExternalId must be given with SpokeRoleArn"},
		{0, map[string]string{"ClusterRegion": "us-east-2"}, "ClusterRegion needs SpokeRoleArn, from infra/spoke.yaml deployed there"},
		{2, map[string]string{"RestoreState": "ENABLED"}, "RestoreState needs a cluster of this account and region; elsewhere, use the command gitlatch restore"},
		{2, map[string]string{"DrillState": "ENABLED"}, "DrillState needs a cluster of this account and region; elsewhere, use the command gitlatch drill"},
		{3, map[string]string{"DrillBucket": "fleet-reports"}, "DrillBucket needs DrillState"},
		{3, map[string]string{"HubClusterName": "tools"}, "HubClusterName needs DrillState, since drills alone look at what applies git"},
		{1, map[string]string{"SubnetIds": ""}, "SubnetIds must be given with VpcId"},
		{0, map[string]string{"ClusterSecurityGroupId": "sg-0a"}, "SubnetIds and ClusterSecurityGroupId need VpcId"},
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
	of := read(t, source)
	for name, bad := range map[string][]string{
		"Site":                   {"", "Prod", "-a", `a"b`, "a b"},
		"ClusterName":            {"", `a"`, "-a"},
		"PeriodMinutes":          {"3", "0"},
		"ScheduleState":          {"OFF"},
		"AlarmState":             {"OFF"},
		"DashboardState":         {"OFF"},
		"RestoreState":           {"ON"},
		"DrillState":             {"ON"},
		"DrillSchedule":          {"daily", "rate(1 day", `rate("1 day")`, ""},
		"DrillBucket":            {"arn:aws:s3:::reports", "a", `ab"`, "Reports"},
		"HubClusterName":         {`a"`, "-a"},
		"HubDestination":         {`a"`, "a b", "{a}"},
		"GitProvider":            {"gitlab"},
		"Demand":                 {"users", "{}", "[]", "[shop/web]"},
		"CodeCommitRepository":   {"a/b", `a"`},
		"GitHubRepository":       {"fleet", "https://github.com/example/fleet", `a/b"`},
		"GitHubLogin":            {"password"},
		"GitHubCredential":       {"arn:aws:secretsmanager:eu-west-1:111122223333:secret:a", "a*"},
		"GitHubCredentialKeyArn": {"alias/mine", "*"},
		"GitHubApiUrl":           {"http://github.example.com", `https://a"`, "https://github.example.com:8443/api/v3"},
		"Branch":                 {"", `a"`, "a*", "-a", "a b"},
		"PublishMode":            {"pr"},
		"AlertEmail":             {"platform"},
		"SpokeRoleArn":           {"*", "arn:aws:iam::444455556666:role/*", "gitlatch"},
		"SpokeExternalId":        {"a", `ab"`},
		"ClusterRegion":          {"eu", "*"},
		"VpcId":                  {"default"},
		"SubnetIds":              {"subnet-0a,", "a"},
		"ClusterSecurityGroupId": {"default"},
		"AccessEntry":            {"false"},
		"StateStack":             {"1a", "a_b"},
		"PermissionsBoundaryArn": {"boundary", "*"},
		"LogRetentionDays":       {"8"},
		"MemorySize":             {"128"},
	} {
		definition, known := of.section("Parameters")[name]
		if !known {
			t.Errorf("there is no parameter %s", name)
		}
		for _, value := range bad {
			if refused(definition, value) == "" {
				t.Errorf("%s takes %q", name, value)
			}
		}
	}
}

func TestPeopleAreAskedForEveryParameterByALabel(t *testing.T) {
	t.Parallel()
	for _, file := range []string{source, fleetSource} {
		t.Run(file, func(t *testing.T) { asksByLabels(t, read(t, file)) })
	}
}

func asksByLabels(t *testing.T, of template) {
	asks := at(of.tree, "Metadata", "AWS::CloudFormation::Interface")
	grouped := map[string]int{}
	for _, group := range list(at(asks, "ParameterGroups")) {
		for _, name := range list(at(group, "Parameters")) {
			grouped[name.(string)]++
		}
	}
	for name := range of.section("Parameters") {
		if grouped[name] != 1 {
			t.Errorf("%s stands in %d groups of parameters", name, grouped[name])
		}
		if at(asks, "ParameterLabels", name, "default") == nil {
			t.Errorf("%s has no label", name)
		}
		delete(grouped, name)
	}
	for name := range grouped {
		t.Errorf("a group names %s, which is no parameter", name)
	}
}

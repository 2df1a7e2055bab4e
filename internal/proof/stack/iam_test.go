//go:build aws

package stack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestIAMDecidesAsTheTableSays(t *testing.T) {
	t.Parallel()
	for _, f := range decide(t, source, repository(t), slices.Concat(requests, fleetRequests)) {
		t.Error(f)
	}
}

// decide queries a simulator of IAM, and returns the differences from the table.
func decide(t *testing.T, file string, of templates, requests []request) (found []finding) {
	t.Helper()
	deployments := map[string]estate{theSpoke: {deploy(t, of[spokeSource], "gitlatch-spoke-edge", spoke)}}
	for _, s := range samples {
		deployments[s.name] = deployed(t, of, s)
	}
	for _, s := range fleets {
		deployments[s.name] = estate{fleet(t, of[fleetSource], s)}
	}
	var asked []map[string]any
	for _, r := range requests {
		asked = append(asked, r.simulated(deployments[r.of], deployments[r.of].resources()))
	}
	type answer struct{ Name, Decision, Error string }
	answers := decode[answer](t, node(t, "simulate.js", asked))
	if len(answers) != len(requests) {
		t.Fatalf("%d requests, %d answers", len(requests), len(answers))
	}
	for i, a := range answers {
		if (a.Decision == "Allowed") != requests[i].allowed || a.Error != "" {
			want := map[bool]string{allow: "be allowed", deny: "be denied"}[requests[i].allowed]
			found = append(found, finding{file, "iam", requests[i].name, requests[i].of, fmt.Sprintf("must %s, and is %s%s", want, a.Decision, a.Error)})
		}
	}
	return found
}

// simulated returns the request in the form of the simulator.
func (r request) simulated(d estate, resources map[string]any) map[string]any {
	asked := map[string]any{"name": r.name, "action": r.action, "account": account, "context": r.context, "principal": r.as, "resource": r.resource}
	if _, made := d.has(r.resource); made {
		asked["resource"] = d.arn(r.resource)
		if at(resources[r.resource], "Type") == "AWS::Logs::LogGroup" {
			asked["resource"] = d.arn(r.resource)[:len(d.arn(r.resource))-1] + "log-stream:s"
		}
	}
	if r.role != "" {
		asked["principal"] = d.arn(r.role)
		asked["policies"] = slices.Collect(documents(resources[r.role]))
	}
	if r.policy == accountDecides {
		root := map[string]string{"AWS": "arn:aws:iam::" + account + ":root"}
		asked["resourcePolicy"] = map[string]any{"Version": "2012-10-17", "Statement": []any{
			map[string]any{"Effect": "Allow", "Principal": root, "Action": "kms:*", "Resource": "*"},
		}}
	}
	for id := range resources {
		for _, property := range []string{"AssumeRolePolicyDocument", "KeyPolicy", "PolicyDocument"} {
			if r.policy == id+"."+property {
				asked["resourcePolicy"] = at(resources[id], "Properties", property)
			}
		}
	}
	return asked
}

// passages are calls through an endpoint that the policies of their callers allow.
var passages = []struct {
	name, provider, endpoint string
	allowed                  bool
	account, action          string // of the caller
}{
	{"describe the cluster", "github", "Eks", allow, account, "eks:DescribeCluster"},
	{"describe a cluster with a stranger's credentials", "github", "Eks", deny, otherAccount, "eks:DescribeCluster"},
	{"describe a spoke's cluster", "spoke", "Eks", allow, "444455556666", "eks:DescribeCluster"},
	{"describe a second spoke's cluster", "spoke", "Eks", allow, "777788889999", "eks:DescribeCluster"},
	{"describe a cluster beside spokes", "spoke", "Eks", allow, account, "eks:DescribeCluster"},
	{"describe a stranger's cluster beside spokes", "spoke", "Eks", deny, otherAccount, "eks:DescribeCluster"},
	{"delete a spoke's cluster", "spoke", "Eks", deny, "444455556666", "eks:DeleteCluster"},
	{"keep state", "github", "DynamoDB", allow, account, "dynamodb:UpdateItem"},
	{"carry state away", "github", "DynamoDB", deny, otherAccount, "dynamodb:PutItem"},
	{"alert by the endpoint", "github", "Sns", allow, account, "sns:Publish"},
	{"read the credential by the endpoint", "github", "SecretsManager", allow, account, "secretsmanager:GetSecretValue"},
	{"commit by the endpoint", "codecommit", "CodeCommitApi", allow, account, "codecommit:CreateCommit"},
	{"assume a spoke's role by the endpoint", "spoke", "StsApi", allow, account, "sts:AssumeRole"},
}

func passagesOpen(t *testing.T, of template) (broken []string) {
	var asked []map[string]any
	for _, p := range passages {
		endpoint := deploy(t, of, "endpoints", endpointsOf(p.provider)).resources()[p.endpoint]
		service, _, _ := strings.Cut(p.action, ":")
		what := map[string]string{
			"eks": ":cluster/c", "dynamodb": ":table/t", "sns": ":t", "secretsmanager": ":secret:s-AbCdEf", "codecommit": ":r", "sts": ":role/r",
		}[service]
		resource := "arn:aws:" + service + ":" + region + ":" + p.account + what
		if service == "sts" {
			resource = "arn:aws:iam::" + p.account + what
		}
		asked = append(asked, map[string]any{
			"name": p.name, "principal": "arn:aws:iam::" + p.account + ":role/r", "action": p.action, "resource": resource, "account": p.account,
			"context":        map[string]string{"aws:PrincipalAccount": p.account},
			"policies":       []any{map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{"Effect": "Allow", "Action": p.action, "Resource": "*"}}}},
			"endpointPolicy": at(endpoint, "Properties", "PolicyDocument"),
		})
		if service == "sts" {
			asked[len(asked)-1]["resourcePolicy"] = map[string]any{"Version": "2012-10-17", "Statement": []any{
				map[string]any{"Effect": "Allow", "Principal": map[string]string{"AWS": "arn:aws:iam::" + p.account + ":root"}, "Action": p.action}}}
		}
	}
	answers := decode[struct{ Name, Decision, Error string }](t, node(t, "simulate.js", asked))
	if len(answers) != len(passages) {
		t.Fatalf("%d passages, %d answers", len(passages), len(answers))
	}
	for i, a := range answers {
		if p := passages[i]; (a.Decision == "Allowed") != p.allowed || a.Error != "" {
			broken = append(broken, fmt.Sprintf("%s: allowed must be %v, and it is %s%s", p.name, p.allowed, a.Decision, a.Error))
		}
	}
	return broken
}

func wrongDecisions(t *testing.T, of []defect, files []string) (found []finding) {
	t.Helper()
	for i, d := range of {
		asked := slices.Concat(requests, fleetRequests)
		asked = slices.DeleteFunc(asked, func(r request) bool { return r.name != d.rule })
		if len(asked) == 0 {
			t.Fatalf("%s: there is no request %q", d.name, d.rule)
		}
		given := repository(t)
		given[d.source()] = readAs(t, d.source(), files[i])
		found = append(found, decide(t, files[i], given, asked)...)
	}
	return found
}

func TestEndpointsLetTheirCallersPass(t *testing.T) {
	t.Parallel()
	for _, closed := range passagesOpen(t, repository(t)[endpointsSource]) {
		t.Error(closed)
	}
}

// closedPassages finds the defects that keep a caller out, or let a stranger in.
func closedPassages(t *testing.T, of []defect, files []string) (found []finding) {
	t.Helper()
	for i, d := range of {
		for _, text := range passagesOpen(t, readAs(t, d.source(), files[i])) {
			found = append(found, finding{files[i], d.by, d.rule, "", text})
		}
	}
	return found
}

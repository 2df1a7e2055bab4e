package stack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const endpointsSource = "infra/vpc-endpoints.yaml"

func spokesEntryNamesTheGroupWithRights(t *testing.T, of template) (broken []string) {
	want := at(read(t, "infra/rbac/clusterrolebinding.yaml").tree, "subjects", 0, "name")
	d := deploy(t, of, "gitlatch-spoke-edge", spoke)
	entries := 0
	for id, r := range d.resources() {
		if at(r, "Type") != "AWS::EKS::AccessEntry" {
			continue
		}
		entries++
		if groups := list(at(r, "Properties", "KubernetesGroups")); len(groups) != 1 || groups[0] != want {
			broken = append(broken, fmt.Sprintf("%s: is in groups %v, and infra/rbac binds its rights to %v", id, groups, want))
		}
		if who := at(r, "Properties", "PrincipalArn"); who != d.arn("SpokeRole") {
			broken = append(broken, fmt.Sprintf("%s: is for %v, and not for the role that the site assumes", id, who))
		}
	}
	if entries != 1 {
		broken = append(broken, fmt.Sprintf("there are %d access entries", entries))
	}
	return broken
}

// endpointsOf returns the parameters of infra/vpc-endpoints.yaml for a list of
// operations.
func endpointsOf(provider string) map[string]string {
	given := map[string]string{
		"VpcId": "vpc-0a1b2c3d", "SubnetIds": "subnet-0a1b2c3d", "RouteTableIds": "rtb-0a1b2c3d", "VpcCidr": "10.0.0.0/16",
		"RepositoryUrl": "https://github.com/example/fleet",
	}
	switch provider {
	case "codecommit":
		given["RepositoryUrl"] = onCodeCommit
	case "url":
		given["RepositoryUrl"] = "https://git.example.com/platform/fleet.git"
	case "spoke":
		given["SpokeAccounts"] = "444455556666,777788889999"
	}
	return given
}

// A tick calls its services through endpoints, and GitHub through a NAT gateway. The
// spoke's own role describes the cluster of a spoke, and its calls are not in the list.
func endpointsAreOfWhatATickCalls(t *testing.T, of template) (broken []string) {
	for _, provider := range []string{"codecommit", "github", "spoke", "url"} {
		want := []string{"eks"}
		for _, operation := range operations(t, provider) {
			service, _, _ := strings.Cut(operation, ":")
			want = append(want, service)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		var got []string
		for id, r := range deploy(t, of, "endpoints", endpointsOf(provider)).resources() {
			p := at(r, "Properties")
			switch at(r, "Type") {
			case "AWS::EC2::VPCEndpoint":
				service, ours := strings.CutPrefix(fmt.Sprint(at(p, "ServiceName")), "com.amazonaws."+region+".")
				if !ours {
					broken = append(broken, fmt.Sprintf("%s: %s: is of another region", provider, id))
				}
				got = append(got, service)
				if gateway := service == "dynamodb"; gateway != (at(p, "VpcEndpointType") == "Gateway") || !gateway && at(p, "PrivateDnsEnabled") != true {
					broken = append(broken, fmt.Sprintf("%s: %s: is not found by the name that the SDK asks for", provider, id))
				}
			case "AWS::EC2::SecurityGroup":
				broken = append(broken, only443(provider+": "+id, list(at(p, "SecurityGroupIngress")))...)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			broken = append(broken, fmt.Sprintf("%s: there are endpoints of %v, and a tick calls %v", provider, got, want))
		}
	}
	return broken
}

// only443 returns the traffic that rules allow in addition to TLS.
func only443(what string, rules []any) (broken []string) {
	if len(rules) != 1 {
		broken = append(broken, fmt.Sprintf("%s: has %d rules", what, len(rules)))
	}
	for _, rule := range rules {
		if at(rule, "IpProtocol") != "tcp" || at(rule, "FromPort") != 443 || at(rule, "ToPort") != 443 {
			broken = append(broken, fmt.Sprintf("%s: lets through %v, and all is asked on port 443", what, rule))
		}
	}
	return broken
}

// failuresArriveInTheirQueues checks the writers of each queue: the schedule's role for
// undelivered events, the function's role for failed ones.
func failuresArriveInTheirQueues(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		d := deployed(t, of, s)
		resources := d.resources()
		mayWrite := func(role, queue any) bool {
			for id, r := range resources {
				if at(r, "Type") != "AWS::IAM::Role" || !strings.HasSuffix(fmt.Sprint(role), ":role/"+d.physical(id)) {
					continue
				}
				for _, policy := range list(at(r, "Properties", "Policies")) {
					for _, statement := range list(at(policy, "PolicyDocument", "Statement")) {
						if at(statement, "Effect") == "Allow" && slices.Contains(list(at(statement, "Action")), "sqs:SendMessage") && slices.Contains(list(at(statement, "Resource")), queue) {
							return true
						}
					}
				}
			}
			return false
		}
		for id, f := range functions(resources) {
			p := at(f, "Properties")
			if failed := at(p, "EventInvokeConfig", "DestinationConfig", "OnFailure", "Destination"); !mayWrite(at(p, "Role"), failed) {
				broken = append(broken, fmt.Sprintf("%s: %s may not write failed events to %v", s.name, id, failed))
			}
			events, _ := at(p, "Events").(map[string]any)
			for name, e := range events {
				if dead := at(e, "Properties", "DeadLetterConfig", "Arn"); !mayWrite(at(e, "Properties", "RoleArn"), dead) {
					broken = append(broken, fmt.Sprintf("%s: %s of %s may not write undelivered events to %v", s.name, name, id, dead))
				}
			}
		}
	}
	return broken
}

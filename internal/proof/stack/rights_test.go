package stack

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
)

// The actions of AWS itself in the name of the function. Our code does not call them.
var forAWS = []string{
	"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo",
	"logs:CreateLogStream", "logs:PutLogEvents",
	"sqs:SendMessage",
}

// forSubnets are the EC2 actions that Lambda requires to run in a VPC.
var forSubnets = []string{
	"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
	"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
}

// operations returns the AWS operations that a tick calls.
func operations(t *testing.T, provider string) []string {
	t.Helper()
	return append(listed(t, "every"), listed(t, provider)...)
}

// listed reads a sorted list of operations, one service:Operation per line. Runs with
// stand-ins compare their calls with the same files.
func listed(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "testdata", "stack", "operations", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// rightsGrantedAreUsed compares only the names. The simulator checks the resources and
// the conditions.
func rightsGrantedAreUsed(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		d := deployed(t, of, s)
		granted := actions(d.resources()["LatchRole"])
		used := slices.Concat(operations(t, s.provider), forAWS)
		if s.parameters["SubnetIds"] != "" {
			used = append(used, forSubnets...)
		}
		if s.parameters["DemandParameter"] != "" {
			used = append(used, listed(t, "demand")...)
		}
		for _, action := range granted {
			if !slices.Contains(used, action) {
				broken = append(broken, fmt.Sprintf("%s: %s is granted, and never used", s.name, action))
			}
		}
		for _, action := range used {
			if !slices.Contains(granted, action) {
				broken = append(broken, fmt.Sprintf("%s: %s is used, and not granted", s.name, action))
			}
		}
	}
	return slices.Concat(broken, restoreRightsAreUsed(t, of), drillRightsAreThoseOfATick(t, of))
}

// restoreRightsAreUsed compares the role of the restore with its observed calls. It has
// no table and no topic, and writes to no repository.
func restoreRightsAreUsed(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		role, made := deployed(t, of, s).resources()["RestoreRole"]
		if !made {
			continue
		}
		used := append(listed(t, "restore-"+s.provider), "logs:CreateLogStream", "logs:PutLogEvents", "sqs:SendMessage")
		if s.parameters["SubnetIds"] != "" {
			used = append(used, forSubnets...)
		}
		if s.parameters["Credential"] != "" {
			used = append(used, "kms:Decrypt") // Secrets Manager decrypts the secret for the caller
		}
		slices.Sort(used)
		if granted := actions(role); !slices.Equal(granted, used) {
			broken = append(broken, fmt.Sprintf("%s: a restore is granted %v, and uses %v", s.name, granted, used))
		}
	}
	return broken
}

// forReports are the S3 operations of a drill, with the permission that S3 requires for
// a read of a report that does not exist yet.
var forReports = []string{"s3:GetObject", "s3:ListBucket", "s3:PutObject"}

// drillRightsAreThoseOfATick compares the role of a drill with the rights for a tick, for
// the reports of a drill, and for the room in the account.
func drillRightsAreThoseOfATick(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		resources := deployed(t, of, s).resources()
		role, made := resources["DrillRole"]
		if !made {
			continue
		}
		want := append(actions(resources["LatchRole"]), listed(t, "account")...)
		// A drill does not measure demand.
		want = slices.DeleteFunc(want, func(action string) bool { return strings.HasPrefix(action, "cloudwatch:") })
		if s.beside[drillSource]["DrillBucket"] != "" {
			want = append(want, forReports...)
		}
		slices.Sort(want)
		want = slices.Compact(want) // Lambda and the account both describe subnets
		if granted := actions(role); !slices.Equal(granted, want) {
			broken = append(broken, fmt.Sprintf("%s: a drill is granted %v, and is to have %v", s.name, granted, want))
		}
	}
	return broken
}

func TestTheHandbookListsTheRightsForAnAccount(t *testing.T) {
	t.Parallel()
	_, rights, _ := strings.Cut(docs.Text("security"), "\n## Rights\n")
	rights, _, _ = strings.Cut(rights, "\n## ")
	var rows []string
	for _, action := range regexp.MustCompile("(?m)^\\| `([a-z0-9]+:[A-Z]\\w+)` ").FindAllStringSubmatch(rights, -1) {
		rows = append(rows, action[1])
	}
	slices.Sort(rows)
	if want := listed(t, "account"); !slices.Equal(rows, want) {
		t.Errorf("the page lists\n%s\nand the clients have\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

// actions returns the actions that a role's policies allow, each once.
func actions(role any) []string {
	allowed := map[string]bool{}
	for _, policy := range list(at(role, "Properties", "Policies")) {
		for _, statement := range list(at(policy, "PolicyDocument", "Statement")) {
			if at(statement, "Effect") != "Allow" {
				continue
			}
			for _, action := range list(at(statement, "Action")) {
				allowed[action.(string)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(allowed))
}

// accessEntryNamesTheGroupWithRights checks the login: as a member of a group with
// rights, and only after the access entry exists.
func accessEntryNamesTheGroupWithRights(t *testing.T, of templates) (broken []string) {
	entries := map[string]struct{ function, cluster, binding string }{
		"LatchAccess":   {"LatchFunction", "ClusterName", "infra/rbac/clusterrolebinding.yaml"},
		"RestoreAccess": {"RestoreFunction", "ClusterName", "infra/rbac/restore/clusterrolebinding.yaml"},
		"DrillAccess":   {"DrillFunction", "ClusterName", "infra/rbac/doctor/clusterrolebinding.yaml"},
		"HubAccess":     {"DrillFunction", "HubClusterName", "infra/rbac/doctor/clusterrolebinding.yaml"},
	}
	s := samples[1] // leaves no entry out
	d := deployed(t, of, s)
	resources := d.resources()
	for id, r := range resources {
		if at(r, "Type") != "AWS::EKS::AccessEntry" {
			continue
		}
		entry := entries[id]
		own := entry.function
		if in, want := at(r, "Properties", "ClusterName"), cmp.Or(s.parameters[entry.cluster], s.beside[drillSource][entry.cluster]); in != want {
			broken = append(broken, fmt.Sprintf("%s: is in the cluster %v, and belongs in %s", id, in, want))
		}
		if who, runs := at(r, "Properties", "PrincipalArn"), at(resources, own, "Properties", "Role"); who != runs {
			broken = append(broken, fmt.Sprintf("%s: is for %v, and %s runs as %v", id, who, own, runs))
		}
		step := at(resources, "RegionSwitchFunction", "Properties", "Role")
		if id == "RestoreAccess" && at(r, "Properties", "PrincipalArn") != step {
			broken = append(broken, fmt.Sprintf("%s: is not for %v, which runs RegionSwitchFunction", id, step))
		}
		events, _ := at(resources, own, "Properties", "Events").(map[string]any)
		for name, event := range events {
			if !strings.Contains(fmt.Sprint(event), d.physical(id)) {
				broken = append(broken, fmt.Sprintf("%s: does not wait for %s, and begins before %s can log in", name, id, own))
			}
		}
		groups := list(at(r, "Properties", "KubernetesGroups"))
		var bound []any
		for _, subject := range list(at(read(t, entry.binding).tree, "subjects")) {
			bound = append(bound, at(subject, "name"))
		}
		if len(groups) != 1 || !slices.Contains(bound, groups[0]) {
			broken = append(broken, fmt.Sprintf("%s: is in groups %v, and %s binds its rights to %v", id, groups, entry.binding, bound))
		}
	}
	return broken
}

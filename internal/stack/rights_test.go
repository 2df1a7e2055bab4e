package stack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What AWS itself does in the function's name, so that no call of ours shows it.
var forAWS = []string{
	"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo",
	"logs:CreateLogStream", "logs:PutLogEvents",
	"sqs:SendMessage",
}

// forSubnets is what Lambda needs of EC2 to run in a VPC.
var forSubnets = []string{
	"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
	"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
}

// operations reads which operations a tick was seen to call, one
// service:Operation a line: those of every tick, and those of a provider.
func operations(t *testing.T, provider string) []string {
	t.Helper()
	var seen []string
	for _, name := range []string{"every", provider} {
		text, err := os.ReadFile(filepath.Join(root, "testdata", "stack", "operations", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				seen = append(seen, line)
			}
		}
	}
	return seen
}

// rightsGrantedAreUsed compares names alone; on what, and under which
// conditions, is for the simulator.
func rightsGrantedAreUsed(t *testing.T, of template) (broken []string) {
	for _, s := range samples {
		d := deployed(t, of, s)
		granted := actions(d.resources()["LatchRole"])
		used := slices.Concat(operations(t, s.provider), forAWS)
		if s.parameters["VpcId"] != "" {
			used = append(used, forSubnets...)
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
	return broken
}

// actions returns what a role's policies allow, each once.
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

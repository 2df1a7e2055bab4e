package stack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// nothingInTheCoreChangesACluster checks each path from the core into a cluster: the
// rights of its roles, the functions that its schedule starts, and the groups of its
// access entries, which may only read in Kubernetes.
func nothingInTheCoreChangesACluster(t *testing.T, of templates) (broken []string) {
	roles, bindings := rbac(t)
	for _, s := range samples {
		core := deployed(t, of, s)[0]
		for id, r := range core.resources() {
			say := func(format string, args ...any) {
				broken = append(broken, fmt.Sprintf("%s: %s ", s.name, id)+fmt.Sprintf(format, args...))
			}
			switch at(r, "Type") {
			case "AWS::IAM::Role":
				for _, action := range actions(r) {
					service, _, _ := strings.Cut(action, ":")
					if service == "eks" && action != "eks:DescribeCluster" || service == "iam" || action == "lambda:UpdateFunctionCode" {
						say("may %s", action)
					}
				}
			case "AWS::EKS::AccessEntry":
				groups := list(at(r, "Properties", "KubernetesGroups"))
				if len(groups) == 0 || at(r, "Properties", "AccessPolicies") != nil {
					say("has other rights than those of infra/rbac: %v", r)
				}
				for _, group := range groups {
					if len(bindings[fmt.Sprint(group)]) == 0 {
						say("is in a group that infra/rbac gives no rights: %v", group)
					}
					for _, role := range bindings[fmt.Sprint(group)] {
						for _, verb := range roles[role] {
							if verb != "get" && verb != "list" {
								say("may %s in the cluster, by the group %v", verb, group)
							}
						}
					}
				}
			case "AWS::Serverless::Function":
				if program := programs[id]; program != "./functions/latch" {
					say("runs %q", program)
				}
			}
		}
	}
	return broken
}

// rbac reads infra/rbac: the verbs of each role, and the roles of each group.
func rbac(t *testing.T) (roles, bindings map[string][]string) {
	t.Helper()
	roles, bindings = map[string][]string{}, map[string][]string{}
	var files []string
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, "infra/rbac", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var object struct {
			Kind     string
			Metadata struct{ Name string }
			Rules    []struct{ Verbs []string }
			RoleRef  struct{ Name string } `yaml:"roleRef"`
			Subjects []struct{ Name string }
		}
		if err := yaml.Unmarshal(text, &object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, rule := range object.Rules {
			roles[object.Metadata.Name] = append(roles[object.Metadata.Name], rule.Verbs...)
		}
		for _, subject := range object.Subjects {
			bindings[subject.Name] = append(bindings[subject.Name], object.RoleRef.Name)
		}
	}
	return roles, bindings
}

// stacksStandAlone checks for names that another stack exports, which would prevent the
// creation or deletion of a stack. Only stacks that use the state of StateStack import
// one.
func stacksStandAlone(_ *testing.T, of templates) (broken []string) {
	for file, one := range of {
		walk(one.tree, func(name string, argument any) {
			from, _ := at(argument, "Fn::Sub").(string)
			if name == "Fn::ImportValue" && (file != source && file != drillSource || !strings.HasPrefix(from, "${StateStack}-")) {
				broken = append(broken, fmt.Sprintf("%s imports %v", file, argument))
			}
		})
		for name, output := range one.section("Outputs") {
			if file != source && at(output, "Export") != nil {
				broken = append(broken, fmt.Sprintf("%s exports %s", file, name))
			}
		}
	}
	return broken
}

// parametersHoldOneValue checks each parameter of the templates of a site. A
// parameter with a list has a list type, such as CommaDelimitedList.
func parametersHoldOneValue(_ *testing.T, of templates) (broken []string) {
	for _, file := range sources[:4] {
		unset := 0
		for name, definition := range of[file].section("Parameters") {
			if at(definition, "Default") == nil {
				unset++
			}
			if kind := at(definition, "Type"); kind != "String" && kind != "Number" && kind != "CommaDelimitedList" {
				broken = append(broken, fmt.Sprintf("%s: %s is of type %v", file, name, kind))
			} else if kind != "String" || at(definition, "AllowedValues") != nil || delimited[name] {
				continue
			}
			for _, two := range []string{"one,two", "one two", "one;two", "[one, two]", "{one: two}"} {
				if refused(definition, two) == "" {
					broken = append(broken, fmt.Sprintf("%s: %s takes %q", file, name, two))
				}
			}
		}
		if unset > 6 {
			broken = append(broken, fmt.Sprintf("%s: %d parameters have no default", file, unset))
		}
	}
	return broken
}

// delimited are single values that contain a blank or a comma: an expression of
// EventBridge Scheduler.
var delimited = map[string]bool{"DrillSchedule": true}

// walk visits each name in a tree, with its value.
func walk(v any, visit func(name string, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			visit(name, value)
			walk(value, visit)
		}
	case []any:
		for _, item := range v {
			walk(item, visit)
		}
	}
}

// CloudFormation accepts a template of up to 51,200 bytes without a bucket.
func TestTheCoreFitsIntoARequest(t *testing.T) {
	t.Parallel()
	for _, file := range []string{filepath.Join(root, source), filepath.Join(packaged(t), "gitlatch.yaml")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) >= 51200 {
			t.Errorf("%s has %d bytes", file, len(text))
		}
	}
}

// On the worst day the Region of the core may be gone.
func TestARestoreNeedsNoCore(t *testing.T) {
	t.Parallel()
	of := read(t, restoreSource)
	d := deploy(t, of, "restore", map[string]string{
		"Site": "prod-eu", "ClusterName": "prod-eu-green",
		"RepositoryUrl": "https://github.com/example/fleet", "Credential": "gitlatch/github",
	})
	resources := d.resources()
	for id, r := range resources {
		if at(r, "Type") == "AWS::CloudWatch::Alarm" {
			t.Errorf("%s has no topic to write to", id)
		}
	}
	text := fmt.Sprint(at(resources, "RestoreFunction", "Properties", "Environment", "Variables", "GITLATCH_CONFIG"))
	got, err := config.ParseConfig("GITLATCH_CONFIG", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := config.EKS{Name: "prod-eu-green"} // in the Region of the function
	if got.Cluster.EKS != want || got.Repository.Host().Name != "example/fleet" || !got.State.Memory {
		t.Errorf("the function is configured by\n%s", text)
	}
}

// The line of a core in another Region selects the repository there. It does not select
// the core's topic, which CloudWatch refuses in another Region.
func TestARestoreTakesTheLineOfACoreInAnotherRegion(t *testing.T) {
	t.Parallel()
	core := deployed(t, repository(t), samples[1])[0]
	given := map[string]string{"RepositoryUrl": strings.Replace(onCodeCommit, region, "us-east-2", 1), "TopicArn": "arn:aws:sns:us-east-2:" + account + ":alerts"}
	resources := besideCore(t, read(t, restoreSource), core, given).resources()
	text := fmt.Sprint(at(resources, "RestoreFunction", "Properties", "Environment", "Variables", "GITLATCH_CONFIG"))
	got, err := config.ParseConfig("GITLATCH_CONFIG", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if host := got.Repository.Host(); host.Kind != repo.CodeCommit || host.Region != "us-east-2" || host.Name != "fleet" || got.Cluster.EKS.Region != "" {
		t.Errorf("the function is configured by\n%s", text)
	}
	reads := false
	for document := range documents(resources["RestoreRole"]) {
		reads = reads || strings.Contains(fmt.Sprint(document), "arn:aws:codecommit:us-east-2:"+account+":fleet")
	}
	if !reads {
		t.Error("the role may not read the repository there")
	}
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		if at(resources[id], "Type") == "AWS::CloudWatch::Alarm" {
			t.Errorf("%s is on a topic of another Region", id)
		}
	}
}

func TestOnlyAStepThatRestoresHasNamespaces(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{"restore": "[]", "release": "[RegionSwitchNamespaces needs RegionSwitchAction=restore]"} {
		d := besideCore(t, read(t, restoreSource), deployed(t, repository(t), samples[0])[0], map[string]string{"RegionSwitchAction": action, "RegionSwitchNamespaces": "shop"})
		if got := fmt.Sprint(d.violated()); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
		if got := at(d.resources(), "RegionSwitchFunction", "Properties", "Environment", "Variables", "GITLATCH_ACTION"); got != action {
			t.Errorf("%s: the function has the action %v", action, got)
		}
	}
}

// withCode are the templates with functions.
var withCode = []string{source, drillSource, restoreSource, fleetSource}

// packaged creates the templates of make package with placeholder functions, and returns
// the folder.
func packaged(t *testing.T) string {
	t.Helper()
	from, to := t.TempDir(), t.TempDir()
	for _, file := range withCode {
		for id := range functions(read(t, file).section("Resources")) {
			write(t, filepath.Join(from, id, "bootstrap"), id)
		}
	}
	pack := command(t, "go", append([]string{"run", "./scripts/package", "-from", from, "-o", to, "-version", "v1.2.3"}, withCode...)...)
	pack.Dir = root
	output(t, pack)
	return to
}

// documents yields the policies of a role.
func documents(role any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		for _, policy := range list(at(role, "Properties", "Policies")) {
			if !yield(at(policy, "PolicyDocument")) {
				return
			}
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

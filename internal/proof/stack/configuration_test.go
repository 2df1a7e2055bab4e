package stack

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/config"
)

// configurations are the configurations of the samples, in the form of the handbook.
var configurations = map[string]string{
	"github": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
period: 5m
cluster:
  eks: prod-eu-blue
state:
  dynamodb: gitlatch-prod-eu-StateTable-1A2B3C4D5E6F
repository:
  url: https://github.com/example/fleet
  credential: secret:gitlatch/github
  branch: main
  mode: direct
alerts:
  topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-prod-eu-AlertTopic-1A2B3C4D5E6F"
`,
	"codecommit": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-us
period: 1m
cluster:
  eks: prod-us
state:
  dynamodb: gitlatch-prod-us-StateTable-1A2B3C4D5E6F
repository:
  url: https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet
  branch: checkpoints/live
  mode: direct
alerts:
  topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-prod-us-AlertTopic-1A2B3C4D5E6F"
`,
	"spoke": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: "123"
period: 60m
cluster:
  eks: arn:aws:eks:us-east-2:444455556666:cluster/edge
  roleArn: "arn:aws:iam::444455556666:role/gitlatch-edge"
state:
  dynamodb: gitlatch-prod-eu-StateTable-1A2B3C4D5E6F
repository:
  url: github::https://github.example.com/example/fleet
  credential: secret:gitlatch/token
  branch: main
  mode: proposal
alerts:
  topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-prod-eu-AlertTopic-1A2B3C4D5E6F"
`,
	"codecommit by proposal": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-ap
period: 5m
cluster:
  eks: prod-ap
state:
  dynamodb: gitlatch-prod-ap-StateTable-1A2B3C4D5E6F
repository:
  url: https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet
  branch: main
  mode: proposal
alerts:
  topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-prod-ap-AlertTopic-1A2B3C4D5E6F"
demand:
- workload: shop/web
  cloudwatch: {namespace: Shop, metric: users}
`,
	"ssh": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-uk
period: 5m
cluster:
  eks: prod-uk
state:
  dynamodb: gitlatch-prod-uk-StateTable-1A2B3C4D5E6F
repository:
  url: ssh://git@git.example.com/platform/fleet.git
  credential: secret:gitlatch/git
  branch: main
  mode: direct
commit:
  signingKey: secret:gitlatch/signing
alerts:
  topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-prod-uk-AlertTopic-1A2B3C4D5E6F"
`,
	"gitlab": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-ca
period: 5m
cluster:
  eks: prod-ca
state:
  dynamodb: gitlatch-prod-ca-StateTable-1A2B3C4D5E6F
repository:
  url: gitlab::https://git.example.com/platform/eu/fleet.git
  credential: secret:gitlatch/gitlab
  branch: main
  mode: proposal
alerts:
  topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-prod-ca-AlertTopic-1A2B3C4D5E6F"
`,
}

// stored are the values of SSM parameters that CloudFormation inserts for a reference.
var stored = strings.NewReplacer("{{resolve:ssm:/gitlatch/prod-ap/demand:3}}",
	`[{"workload": "shop/web", "cloudwatch": {"namespace": "Shop", "metric": "users"}}]`)

// restoring returns a configuration with only the fields that a restore needs: without
// state, alerts, and the fields for ticks and commits.
func restoring(c map[string]any) map[string]any {
	delete(c, "alerts")
	delete(c, "demand")
	delete(c, "period")
	delete(c, "commit")
	c["state"] = map[string]any{"memory": map[string]any{}}
	delete(c["repository"].(map[string]any), "mode")
	return c
}

// drilling returns a configuration with the additional fields of a drill.
func drilling(c map[string]any, s sample) map[string]any {
	delete(c, "demand") // the result of a rebuild does not depend on it
	own := s.beside[drillSource]
	if hub := own["HubClusterName"]; hub != "" {
		c["gitops"] = map[string]any{"eks": hub}
	}
	if standby := own["StandbyClusterArn"]; standby != "" {
		c["standby"] = map[string]any{"eks": standby}
	}
	if bucket := own["DrillBucket"]; bucket != "" {
		c["drills"] = "s3://" + bucket + "/gitlatch/drills"
	}
	return c
}

func configurationIsAsDocumented(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		for id, f := range functions(deployed(t, of, s).resources()) {
			text := stored.Replace(fmt.Sprint(at(f, "Properties", "Environment", "Variables", "GITLATCH_CONFIG")))
			if len(text) > 3000 { // all variables together may have 4 KB
				broken = append(broken, fmt.Sprintf("%s: the configuration of %s takes %d bytes", s.name, id, len(text)))
			}
			if _, err := config.ParseConfig("GITLATCH_CONFIG", []byte(text)); err != nil {
				broken = append(broken, fmt.Sprintf("%s: %s: %v", s.name, id, err))
			}
			var got, want any
			if err := yaml.Unmarshal([]byte(text), &got); err != nil {
				broken = append(broken, fmt.Sprintf("%s: %s is configured by what is no YAML: %v\n%s", s.name, id, err, text))
				continue
			}
			if err := yaml.Unmarshal([]byte(configurations[s.name]), &want); err != nil {
				t.Fatal(err)
			}
			switch id {
			case "RestoreFunction", "RegionSwitchFunction":
				want = restoring(want.(map[string]any))
			case "DrillFunction":
				want = drilling(want.(map[string]any), s)
			}
			if !reflect.DeepEqual(got, want) {
				broken = append(broken, fmt.Sprintf("%s: %s is configured by\n%s\nwant %v", s.name, id, text, want))
			}
		}
	}
	return broken
}

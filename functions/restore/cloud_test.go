//go:build aws

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/restore/open"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	account     = "123456789012"
	clusterName = "prod-eu"
	rbac        = "../../infra/rbac/restore/"
)

// A cloud contains the parts that the sites of these tests share: one cluster with a
// login like EKS's, and stand-ins of the other AWS services.
type cloud struct {
	cp     *controlplane.ControlPlane
	eks    *standeks.Server
	hook   *standeks.Webhook
	moto   *moto.Server
	binary string
	step   string // the bootstrap of functions/regionswitch
	config string // the template's text of GITLATCH_CONFIG

	mu     sync.Mutex
	access standeks.Access
}

// A stack is one site in the cloud: a function, its role, its repository, and a
// separate namespace.
type stack struct {
	*cloud
	name, provider string
	gateway        *gateway.Gateway
	key            aws.Credentials
	filled         map[string]string
	function       *runtimeapi.Function
}

func startCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{eks: standeks.Start(t), moto: moto.Start(t), access: standeks.Access{}}
	c.hook = c.eks.Authenticate(t, clusterName, c.access)
	c.cp = controlplane.Start(t, controlplane.Options{
		APIServerFlags:         c.hook.Flags,
		ControllerManagerFlags: []string{"--horizontal-pod-autoscaler-downscale-stabilization=1s"},
	})
	c.cp.Nodes(t, 1)
	c.cp.Metrics(t, func(string) string { return "1m" })
	c.cp.Apply(t, read(t, rbac+"clusterrole.yaml"), read(t, rbac+"clusterrolebinding.yaml"))
	config := c.cp.Config()
	c.eks.Describe(clusterName, standeks.Cluster{Endpoint: config.Host, CA: config.CAData})
	c.binary = runtimeapi.Build(t, ".")
	c.step = runtimeapi.Build(t, "../regionswitch")
	c.config = configOf(t)
	return c
}

// configOf returns the configuration of the function in the template, before values are
// filled in.
func configOf(t *testing.T) string {
	t.Helper()
	var tree struct {
		Resources struct {
			RestoreFunction struct {
				Properties struct {
					Environment struct {
						Variables map[string]yaml.Node `yaml:"Variables"`
					} `yaml:"Environment"`
				} `yaml:"Properties"`
			} `yaml:"RestoreFunction"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../../infra/restore.yaml")), &tree); err != nil {
		t.Fatal(err)
	}
	found := tree.Resources.RestoreFunction.Properties.Environment.Variables[config.Variable]
	if len(found.Content) != 2 {
		t.Fatalf("the template sets no %s", config.Variable)
	}
	return found.Content[0].Value
}

// stack creates a role, and a repository with levels of the Deployments in a namespace.
func (c *cloud) stack(t *testing.T, provider, name string, deployments ...string) *stack {
	t.Helper()
	s := &stack{cloud: c, name: name, provider: provider}
	record := checkpoint.Record{Namespace: name, Entries: map[workload.ID]checkpoint.Entry{}}
	for _, one := range deployments {
		record.Entries[workload.ID{Namespace: name, Kind: workload.Deployment, Name: one}] = checkpoint.Entry{Replicas: level}
	}
	files := map[string]string{checkpoint.RecordPath(name, name): string(record.Format())}
	services := map[string]string{"eks": c.eks.URL, "sts": c.eks.URL, "secretsmanager": c.moto.URL}
	var address, login string
	if provider == "codecommit" {
		host := codecommit.Start(t)
		host.Create(t, name, files)
		services["codecommit"] = host.Endpoint()
		address = "https://git-codecommit." + moto.Region + ".amazonaws.com/v1/repos/" + name
	} else {
		host := github.Start(t)
		host.Create(t, name, files)
		host.Grant("github_pat_" + name)
		secret := "gitlatch/" + name
		vault := secretsmanager.NewFromConfig(c.moto.Config())
		if _, err := vault.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &secret, SecretString: aws.String("github_pat_" + name)}); err != nil {
			t.Fatal(err)
		}
		address, login = host.Address(name), fmt.Sprintf(`, credential: "secret:%s"`, secret)
	}
	s.gateway = gateway.Start(t, services)
	s.key = c.eks.Key("arn:aws:sts::" + account + ":assumed-role/" + name + "/gitlatch")
	s.filled = map[string]string{"Site": name, "ClusterName": clusterName, "AWS::Region": moto.Region, "RepositoryUrl": address, "Login": login, "Branch": "main"}
	return s
}

// start starts a bootstrap with the template's configuration, with values filled in.
func (s *stack) start(t *testing.T, binary string, environment ...string) *runtimeapi.Function {
	t.Helper()
	document := os.Expand(s.config, func(name string) string {
		value, known := s.filled[name]
		if !known {
			t.Errorf("the template's configuration has ${%s}, which is not filled in", name)
		}
		return value
	})
	return runtimeapi.Start(t, binary, append(environment,
		config.Variable+"="+document,
		"AWS_ENDPOINT_URL="+s.gateway.URL,
		"AWS_ACCESS_KEY_ID="+s.key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+s.key.SecretAccessKey, "AWS_SESSION_TOKEN="+s.key.SessionToken,
	)...)
}

// deploy deploys a site with workloads that started small, and returns its stack with
// levels of the Deployments. The autoscaler of web sees idle pods and has no scale-down
// behavior. The pods of stuck fit on no node.
func (c *cloud) deploy(t *testing.T, provider, name string, deployments ...string) *stack {
	t.Helper()
	s := c.stack(t, provider, name, deployments...)
	c.mu.Lock()
	c.access["arn:aws:iam::"+account+":role/"+s.name] = []string{open.Group}
	c.hook.Set(t, c.access)
	c.mu.Unlock()
	s.function = s.start(t, s.binary)
	c.cp.Kubectl(t, "", "create", "namespace", s.name)
	stuck := strings.Replace(controlplane.Workload("Deployment", s.name, "stuck"), "spec: {termination", "spec: {nodeSelector: {fits: nowhere}, termination", 1)
	hpa := strings.Replace(controlplane.Autoscaler("Deployment", s.name, "web"), "  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}\n", "", 1)
	c.cp.Apply(t, controlplane.Workload("Deployment", s.name, "web"), hpa, stuck)
	c.cp.Kubectl(t, "", "wait", "-n", s.name, "--for=condition=ScalingActive", "hpa", "--all", "--timeout=180s")
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
		if n := s.count(t, "web"); n != "2" {
			return fmt.Errorf("web asks for %s", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func contextUntil(t *testing.T, end time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(t.Context(), end)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

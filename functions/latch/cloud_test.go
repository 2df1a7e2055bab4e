//go:build aws

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

// The accounts and the cluster of these tests, and the group of its access entries.
const (
	account      = "123456789012"
	spokeAccount = "444455556666"
	cluster      = "prod-eu"
	group        = eks.Group
	// nodes have room for the pods of all sites. Each site has at most 60 pods, and a
	// node has room for 1,000.
	nodes = 2
)

// A cloud contains the parts that all sites of these tests share: one cluster with a
// login like EKS's, one table, and stand-ins of the other AWS services.
type cloud struct {
	cp     *controlplane.ControlPlane
	admin  *http.Client // a client of the cluster with all rights
	audit  string       // the audit log of the API server
	eks    *standeks.Server
	hook   *standeks.Webhook
	state  *dynalite.Server
	moto   *moto.Server
	binary string
	config string // the template's text of GITLATCH_CONFIG
	appKey *rsa.PrivateKey
	secret string // name of the secret with that key

	mu     sync.Mutex
	access standeks.Access
	// seen are the operations that the functions called with their own keys, by their
	// list in testdata/stack/operations.
	seen map[string]map[string]bool
	// written are the branches that were written in CodeCommit, with ${Site} in place of
	// the site.
	written map[string]bool
}

// table is the table with the state of all sites, each in a separate partition.
const table = "gitlatch"

func startCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{
		state: dynalite.Start(t), moto: moto.Start(t), eks: standeks.Start(t),
		access: standeks.Access{}, seen: map[string]map[string]bool{}, written: map[string]bool{},
	}
	dir := t.TempDir()
	c.audit = filepath.Join(dir, "audit.log")
	audited := filepath.Join(dir, "audit.yaml")
	if err := os.WriteFile(audited, []byte(auditPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	c.hook = c.eks.Authenticate(t, cluster, c.access)
	c.cp = controlplane.Start(t, controlplane.Options{
		APIServerFlags: append(c.hook.Flags, "--audit-policy-file="+audited, "--audit-log-path="+c.audit),
	})
	c.cp.Nodes(t, nodes)
	c.cp.Apply(t, read(t, role), read(t, "../../infra/rbac/clusterrolebinding.yaml"))
	config := c.cp.Config()
	c.eks.Describe(cluster, standeks.Cluster{Endpoint: config.Host, CA: config.CAData})
	var err error
	if c.admin, err = rest.HTTPClientFor(config); err != nil {
		t.Fatal(err)
	}
	if c.appKey, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	c.secret = appSecret(t, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(c.appKey)})))
	c.table(t, table, "pk", "sk")
	c.binary = runtimeapi.Build(t, ".")
	c.config = configOf(t, read(t, "../../template.yaml"), "LatchFunction")
	return c
}

// auditPolicy logs each request of a user with an access entry, once.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, userGroups: ["` + group + `"]}
  - level: None
`

// appSecret returns the secret with an App's key.
func appSecret(t *testing.T, key string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"appId": 7, "installationId": 70, "privateKey": key})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// configOf returns the configuration of a function in the template, before values are
// filled in.
func configOf(t *testing.T, template, function string) string {
	t.Helper()
	var tree struct {
		Resources map[string]struct {
			Properties struct {
				Environment struct {
					Variables map[string]yaml.Node `yaml:"Variables"`
				} `yaml:"Environment"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(template), &tree); err != nil {
		t.Fatal(err)
	}
	found := tree.Resources[function].Properties.Environment.Variables[config.Variable]
	if len(found.Content) != 2 {
		t.Fatalf("the template sets no %s", config.Variable)
	}
	return found.Content[0].Value
}

// table creates a table whose keys have the given names, the partition key first.
func (c *cloud) table(t *testing.T, name string, keys ...string) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, key := range keys {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(key), AttributeType: types.ScalarAttributeTypeS})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(key), KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
	}
	client := c.state.Client()
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	soon := func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second }
	if err := dynamodb.NewTableExistsWaiter(client, soon).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// enter sets the groups of a role's access entry. Without groups, it removes the entry.
func (c *cloud) enter(t *testing.T, role string, groups ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.access, role)
	if len(groups) > 0 {
		c.access[role] = groups
	}
	c.hook.Set(t, c.access)
}

// ask sends a request to the API server as an administrator, and fails the test on a
// refusal. body is YAML, or a merge patch.
func (c *cloud) ask(t *testing.T, method, path, body string) []byte {
	t.Helper()
	answer, err := c.try(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (c *cloud) try(ctx context.Context, method, path, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.cp.Config().Host+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", map[string]string{http.MethodPatch: "application/merge-patch+json"}[method])
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/yaml")
	}
	answer, err := c.admin.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return text, err
}

// namespace creates a namespace with a Deployment of one pod.
func (c *cloud) namespace(t *testing.T, name, deployment string) {
	t.Helper()
	c.ask(t, http.MethodPost, "/api/v1/namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n")
	c.deployment(t, name, deployment)
}

func (c *cloud) deployment(t *testing.T, namespace, name string) {
	t.Helper()
	c.ask(t, http.MethodPost, "/apis/apps/v1/namespaces/"+namespace+"/deployments", controlplane.Workload("Deployment", namespace, name))
}

// rolls creates a Deployment and a DaemonSet whose rollouts stay in flight: one is
// paused, and the new pods of the other fit no node. Before the change, both have pods
// of their first template, for two reasons: a template that no controller saw is not a
// rollout, and a surge would keep an available pod.
func (c *cloud) rolls(t *testing.T) {
	t.Helper()
	const web, agent = "/apis/apps/v1/namespaces/rolling/deployments/web", "/apis/apps/v1/namespaces/rolling/daemonsets/agent"
	c.namespace(t, "rolling", path.Base(web))
	c.ask(t, http.MethodPost, path.Dir(agent), controlplane.Workload("DaemonSet", "rolling", path.Base(agent)))
	c.until(t, web, `"availableReplicas":1`)
	c.until(t, agent, fmt.Sprintf(`"numberAvailable":%d`, nodes))
	c.ask(t, http.MethodPatch, web, `{"spec": {"paused": true, "template": {"metadata": {"labels": {"changed": "yes"}}}}}`)
	c.ask(t, http.MethodPatch, agent, `{"spec": {
		"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
		"template": {"spec": {"containers": [{"name": "main", "image": "app:2", "resources": {"requests": {"cpu": "2000"}}}]}}}}`)
}

// until waits until an object contains a text.
func (c *cloud) until(t *testing.T, object, says string) {
	t.Helper()
	if err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		text, err := c.try(ctx, http.MethodGet, object, "")
		if err == nil && !bytes.Contains(text, []byte(says)) {
			err = fmt.Errorf("%s does not say %s: %s", object, says, text)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// scale sets replicas through the scale subresource, and waits until the pods are ready.
func (c *cloud) scale(t *testing.T, namespace, deployment string, replicas int) {
	t.Helper()
	path := "/apis/apps/v1/namespaces/" + namespace + "/deployments/" + deployment
	c.ask(t, http.MethodPatch, path+"/scale", fmt.Sprintf(`{"spec": {"replicas": %d}}`, replicas))
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		text, err := c.try(ctx, http.MethodGet, path, "")
		if err != nil {
			return err
		}
		var d struct {
			Metadata struct{ Generation int }
			Status   struct{ ObservedGeneration, Replicas, UpdatedReplicas, AvailableReplicas int }
		}
		if err := json.Unmarshal(text, &d); err != nil {
			return err
		}
		if s := d.Status; s.ObservedGeneration != d.Metadata.Generation || s.Replicas != replicas || s.UpdatedReplicas != replicas || s.AvailableReplicas != replicas {
			return fmt.Errorf("%s/%s is at %+v", namespace, deployment, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

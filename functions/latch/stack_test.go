//go:build aws

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/gitlab"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

// A plan describes a stack to deploy.
type plan struct {
	name string // name of the site and of its namespace
	// provider is codecommit, github (with an App), or spoke: github with a token, and
	// with the cluster in another account. On any git server, it is https (with a
	// token), ssh (with a key) or gitlab.
	provider string
	mode     string // direct or proposal
	// hold is the hold of the policy. With "", no level change waits for a second sample.
	hold string
	// signed is true if the branch requires signatures of the key in a second secret.
	signed bool
	// files are the first files of the repository; nil are a policy and a README.
	files map[string]string
}

// A host has the site's repository and its pull requests.
type host interface {
	Create(t testing.TB, name string, files map[string]string) *gitserver.Origin
	Merge(t testing.TB, id string, squash bool)
	Decline(t testing.TB, id string)
	Words(t testing.TB, id string) (title, body string, comments []string)
}

// A stack is a separate site in the cloud: a function, its role, its topic, its
// repository, and a namespace that it latches. It shares nothing.
type stack struct {
	*cloud
	plan
	host       host
	codecommit *codecommit.Server // nil on GitHub
	github     *github.Server     // nil on other hosts
	gitlab     *gitlab.Server     // nil on other hosts
	server     *gitserver.SSH     // nil without SSH
	origin     *gitserver.Origin
	gateway    *gateway.Gateway
	role       string
	key        aws.Credentials
	filled     map[string]string // values for the template's configuration
	topic      string
	queue      string
	function   *runtimeapi.Function
	timeout    time.Duration // timeout of the function; 0 is a minute
}

const policyOf = `apiVersion: gitlatch.dev/v1alpha1
kind: Policy
mode: latch
commitsPerDay: 1000
policies:
  - {name: own, match: {namespaces: [%s]}, hold: {%s}, series: 1-2-5}
  - {name: default, match: {}, scale: ignore, rollout: {mode: ignore}}
`

// deploy deploys a stack for a namespace with the Deployment web, which is latched after
// its first change of scale.
func (c *cloud) deploy(t *testing.T, p plan) *stack {
	t.Helper()
	s := &stack{cloud: c, plan: p, role: "arn:aws:iam::" + account + ":role/" + p.name}
	services := map[string]string{
		"dynamodb": c.state.URL, "eks": c.eks.URL, "sts": c.eks.URL, "sns": c.moto.URL, "secretsmanager": c.moto.URL,
	}
	var address string
	switch p.provider {
	case "codecommit":
		s.codecommit = codecommit.Start(t)
		s.host, services["codecommit"] = s.codecommit, s.codecommit.Endpoint()
		address = "https://git-codecommit." + moto.Region + ".amazonaws.com/v1/repos/" + p.name
	case "https", "ssh", "gitlab":
		address = s.byURL(t)
	default:
		s.github = github.Start(t)
		s.host = s.github
		secret := c.secret
		if p.provider == "spoke" {
			secret = "github_pat_" + p.name
			s.github.Grant(secret)
		}
		s.github.Install(github.App{ID: 7, InstallationID: 70, Key: &c.appKey.PublicKey})
		s.keep(t, s.secretName(), secret)
		address = s.github.Address(p.name)
	}
	hold := "up: 1, down: 0s"
	if p.hold != "" {
		hold = p.hold
	}
	files := p.files
	if files == nil {
		files = map[string]string{"gitlatch.yaml": fmt.Sprintf(policyOf, p.name, hold), "README": "of people\n"}
	}
	s.origin = s.host.Create(t, p.name, files)
	s.gateway = gateway.Start(t, services)
	s.subscribe(t)
	s.filled = map[string]string{
		"Site": p.name, "PeriodMinutes": "5", "Cluster": cluster, "Region": moto.Region, "AWS::Region": moto.Region, "Assume": "",
		"Table": table, "RepositoryUrl": address, "Login": "", "Branch": "main", "PublishMode": p.mode, "Topic": s.topic, "Demand": "", "Signing": "",
	}
	if p.provider != "codecommit" {
		s.filled["Login"] = fmt.Sprintf(`, credential: "secret:%s"`, s.secretName())
	}
	if p.signed {
		s.signs(t)
	}
	entry := s.role
	if p.provider == "spoke" {
		entry = "arn:aws:iam::" + spokeAccount + ":role/" + p.name
		c.eks.Role(entry, "gitlatch/"+p.name)
		s.filled["Assume"] = fmt.Sprintf(`, roleArn: "%s"`, entry)
	}
	c.enter(t, entry, group)
	s.renew(t)
	c.namespace(t, p.name, "web")
	t.Cleanup(s.note)
	return s
}

func (s *stack) secretName() string { return "gitlatch/" + s.name }

// byURL starts a git server of the site, and returns the address of the repository.
func (s *stack) byURL(t *testing.T) string {
	t.Helper()
	url, secret := "", "glpat-"+s.name
	switch s.provider {
	case "https":
		server := gitserver.Start(t)
		server.RequireAuth("robot", "glpat-"+s.name)
		s.host, url, secret = plain{server}, server.URL(s.name), "robot:glpat-"+s.name+"\n"
	case "ssh":
		s.server = gitserver.StartSSH(t)
		s.host, url = plain{s.server}, s.server.URL(s.name)
		secret = "git.example.com " + s.server.HostKeys()[0] + "\n" + string(s.server.Key)
	default:
		s.gitlab = gitlab.Start(t)
		s.gitlab.Grant(secret)
		s.host, url = s.gitlab, "gitlab::"+s.gitlab.Repository(s.name)
	}
	s.keep(t, s.secretName(), secret)
	return url
}

// creator creates repositories.
type creator interface {
	Create(t testing.TB, name string, files map[string]string) *gitserver.Origin
}

// plain is a git server without pull requests.
type plain struct{ creator }

func (plain) Merge(t testing.TB, _ string, _ bool) { t.Fatal("a git server has no pull requests") }
func (plain) Decline(t testing.TB, _ string)       { t.Fatal("a git server has no pull requests") }
func (plain) Words(t testing.TB, _ string) (title, body string, comments []string) {
	t.Fatal("a git server has no pull requests")
	return "", "", nil
}

// signs makes the branch require signatures of a key that only the site has.
func (s *stack) signs(t *testing.T) {
	t.Helper()
	private, key := gitserver.NewKey(t)
	s.keep(t, s.secretName()+"-signing", string(private))
	s.origin.RequireSignatures(t, gitserver.Public(key))
	s.filled["Signing"] = fmt.Sprintf(`commit: {signingKey: "secret:%s-signing"}`, s.secretName())
}

// keep creates a secret of the site.
func (s *stack) keep(t *testing.T, name, secret string) {
	t.Helper()
	vault := secretsmanager.NewFromConfig(s.moto.Config())
	if _, err := vault.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: &secret}); err != nil {
		t.Fatal(err)
	}
}

// subscribe creates the site's topic, and a queue that receives its messages.
func (s *stack) subscribe(t *testing.T) {
	t.Helper()
	topics, queues := sns.NewFromConfig(s.moto.Config()), sqs.NewFromConfig(s.moto.Config())
	topic, err := topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: &s.name})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &s.name})
	if err != nil {
		t.Fatal(err)
	}
	s.topic, s.queue = *topic.TopicArn, *queue.QueueUrl
	if _, err := topics.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: &s.topic, Protocol: aws.String("sqs"), Endpoint: aws.String("arn:aws:sqs:" + moto.Region + ":" + account + ":" + s.name),
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	}); err != nil {
		t.Fatal(err)
	}
}

// start starts a new environment of the function with the template's configuration, with
// values filled in, and with the given replacements.
func (s *stack) start(t *testing.T, replace ...string) {
	t.Helper()
	document := os.Expand(s.config, func(name string) string {
		value, known := s.filled[name]
		if !known {
			t.Errorf("the template's configuration has ${%s}, which is not filled in", name)
		}
		return value
	})
	for pair := range slices.Chunk(replace, 2) {
		if !strings.Contains(document, pair[0]) {
			t.Fatalf("the configuration does not say %s:\n%s", pair[0], document)
		}
		document = strings.ReplaceAll(document, pair[0], pair[1])
	}
	s.function = runtimeapi.Start(t, s.binary,
		config.Variable+"="+document,
		"AWS_ENDPOINT_URL="+s.gateway.URL,
		"AWS_ACCESS_KEY_ID="+s.key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+s.key.SecretAccessKey, "AWS_SESSION_TOKEN="+s.key.SessionToken,
	)
}

// renew starts a new environment with new credentials of the role. The API server
// caches a token's identity for ten seconds, so only another token shows a change.
func (s *stack) renew(t *testing.T) {
	t.Helper()
	s.note()
	s.key = s.eks.Key("arn:aws:sts::" + account + ":assumed-role/" + s.name + "/gitlatch")
	s.start(t)
}

// note records the calls for the contract with the template.
func (s *stack) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.provider
	if slices.Contains([]string{"https", "ssh", "gitlab"}, list) {
		list = "url"
	}
	if s.seen[list] == nil {
		s.seen[list] = map[string]bool{}
	}
	for _, operation := range s.gateway.Operations(s.key.AccessKeyID) {
		s.seen[list][operation] = true
	}
	if s.codecommit == nil {
		return
	}
	for _, call := range s.codecommit.Calls() {
		if slices.Contains([]string{"CreateBranch", "CreateCommit", "DeleteBranch"}, call.Operation) {
			s.written[strings.ReplaceAll(call.Branch, s.name, "${Site}")] = true
		}
	}
}

// A token or a key, in any form.
var secrets = regexp.MustCompile(`k8s-aws-v1\.|ghs_[0-9]|github_pat_|glpat-|PRIVATE KEY`)

// send sends an event of testdata/events for this site.
func (s *stack) send(t *testing.T, event string) (answer report.Document, r runtimeapi.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(s.timeout, 5*time.Minute))
	defer cancel()
	r = s.function.Invoke(ctx, []byte(strings.Replace(eventOf(t, event), "prod-eu", s.name, 1)))
	said := r.Logs + fmt.Sprint(r.Error)
	if secrets.MatchString(said) || strings.Contains(said, s.key.SecretAccessKey) || strings.Contains(said, s.key.SessionToken) {
		t.Errorf("a secret in %s", said)
	}
	if r.Error != nil {
		return answer, r
	}
	if err := json.Unmarshal(r.Payload, &answer); err != nil {
		t.Fatalf("payload %s: %v", r.Payload, err)
	}
	return answer, r
}

// ticks sends a scheduled event and fails the test unless the tick completes.
func (s *stack) ticks(t *testing.T) report.Document {
	t.Helper()
	answer, r := s.send(t, "scheduler")
	if r.Error != nil {
		t.Fatalf("error %v, logs\n%s", r.Error, r.Logs)
	}
	if got := heartbeats(t, s.name, r.Logs); got != 1 {
		t.Errorf("%d lines of metrics in\n%s", got, r.Logs)
	}
	return answer
}

// fails sends a scheduled event and expects an error with all of the given words.
func (s *stack) fails(t *testing.T, says ...string) runtimeapi.Result {
	t.Helper()
	answer, r := s.send(t, "scheduler")
	if r.Error == nil {
		t.Fatalf("no error, answer %+v", answer)
	}
	for _, words := range says {
		if !strings.Contains(r.Error.Message, words) {
			t.Errorf("the error does not say %q:\n%s", words, r.Error.Message)
		}
	}
	return r
}

// scales scales the Deployment web.
func (s *stack) scales(t *testing.T, replicas int) {
	t.Helper()
	s.scale(t, s.name, "web", replicas)
}

// declares fails the test unless the base has the given level of the Deployment web, 0
// for no level, and the site's latch agrees.
func (s *stack) declares(t *testing.T, level int32) {
	t.Helper()
	path := "checkpoints/" + s.name + "/" + s.name + ".levels.yaml"
	record := ""
	if _, there := s.origin.Tree(t, "main")[path]; there {
		record = s.origin.Show(t, "main", path)
	}
	if got := strings.Contains(record, fmt.Sprintf("  deployment.web: %q\n", fmt.Sprint(level))); got != (level > 0) {
		t.Errorf("want web at %d; the record is\n%s", level, record)
	}
	if got := s.latch(t).Declared.Replicas; got != level {
		t.Errorf("the latch is at %d, git at %d", got, level)
	}
}

// latch returns the latch of the Deployment web.
func (s *stack) latch(t *testing.T) latch.Latch {
	t.Helper()
	all, err := dynamo.Open(dynamo.Options{Table: table, Client: s.state.Client()}).Latches(t.Context(), s.name)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.ID.Name == "web" {
			return l
		}
	}
	return latch.Latch{}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

// TestOnAWS is the whole tick: an event into the real bootstrap, login at a real
// API server, state in DynamoDB, a commit on each host, directly and by pull
// request, and the message that follows.
func TestOnAWS(t *testing.T) {
	t.Parallel()
	c := startCloud(t)
	c.scale(t, map[string]int32{"deployment/web": 12, "statefulset/db": 3})
	t.Run("codecommit, directly", func(t *testing.T) { c.site(t, "cc-direct", c.onCodeCommit("direct")).direct(t) })
	t.Run("codecommit, by pull request", func(t *testing.T) { c.site(t, "cc-proposal", c.onCodeCommit("proposal")).proposes(t) })
	t.Run("github, directly", func(t *testing.T) { c.site(t, "gh-direct", c.onGitHub("direct")).direct(t) })
	t.Run("github, by pull request", func(t *testing.T) { c.site(t, "gh-proposal", c.onGitHub("proposal")).proposes(t) })
	t.Run("a token that is rotated", c.rotated)
	t.Run("a role without an access entry", c.noEntry)
}

// stack is one site of the cloud, with the function that is scheduled for it.
type stack struct {
	*cloud
	name     string
	origin   *gitserver.Origin
	merge    func(testing.TB, string, bool)
	document string
	function *runtimeapi.Function
}

func (c *cloud) site(t *testing.T, name string, on host) *stack {
	t.Helper()
	s := &stack{cloud: c, name: name}
	var repository string
	s.origin, repository, s.merge = on(t, name, map[string]string{
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n",
	})
	s.document = fmt.Sprintf(`
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: %s
cluster: {eks: {name: prod-eu, region: %s}}
state: {dynamodb: {table: gitlatch}}
repository: %s
alerts: {sns: {topicArn: %q}}
`, name, standeks.Region, repository, c.topic)
	s.start(t)
	return s
}

func (s *stack) start(t *testing.T) {
	s.function = runtimeapi.Start(t, s.binary, append(s.env, configVariable+"="+s.document)...)
}

// pullRequest finds the id of one in where people see it.
var pullRequest = regexp.MustCompile(`/pull(?:-requests)?/([0-9]+)`)

// ticks sends an event, which must succeed.
func (s *stack) ticks(t *testing.T) (answer report.Document) {
	t.Helper()
	r := s.function.Invoke(t.Context(), fmt.Appendf(nil, `{"site": %q}`, s.name))
	if r.Error != nil {
		t.Fatalf("error %v, logs\n%s", r.Error, r.Logs)
	}
	if err := json.Unmarshal(r.Payload, &answer); err != nil {
		t.Fatalf("payload %s: %v", r.Payload, err)
	}
	return answer
}

// declared fails the test unless the base declares what the fleet has come to.
func (s *stack) declared(t *testing.T) {
	t.Helper()
	record := s.origin.Show(t, "main", "checkpoints/"+s.name+"/shop/checkpoint.yaml")
	for _, want := range []string{`deployment.web: "20"`, `statefulset.db: "5"`} {
		if !strings.Contains(record, "  "+want+"\n") {
			t.Errorf("the record does not say %s:\n%s", want, record)
		}
	}
}

func (s *stack) direct(t *testing.T) {
	if first := s.ticks(t); first.Commit != nil {
		t.Fatalf("first: %+v", first)
	}
	second := s.ticks(t)
	if second.Commit == nil || second.Commit.ID != s.origin.Tip("main") || second.Proposal != nil {
		t.Fatalf("second: %+v", second)
	}
	s.declared(t)
	s.remembers(t)
	s.alerts(t)
}

func (s *stack) proposes(t *testing.T) {
	s.ticks(t)
	before := s.origin.Tip("main")
	second := s.ticks(t)
	if second.Proposal == nil || s.origin.Tip("main") != before {
		t.Fatalf("second: %+v, base at %s", second, s.origin.Tip("main"))
	}
	found := pullRequest.FindStringSubmatch(second.Proposal.URL)
	if found == nil {
		t.Fatalf("no pull request in %q", second.Proposal.URL)
	}
	s.merge(t, found[1], true)
	if third := s.ticks(t); third.Commit != nil {
		t.Errorf("after the merge: %+v", third)
	}
	s.declared(t)
	s.remembers(t)
	s.alerts(t)
}

// remembers starts another environment, which finds in the table what the last
// one knew: it has nothing to adopt and nothing to say.
func (s *stack) remembers(t *testing.T) {
	t.Helper()
	tip := s.origin.Tip("main")
	s.start(t)
	if again := s.ticks(t); again.Commit != nil || again.Proposal != nil || len(again.Notices) > 0 || s.origin.Tip("main") != tip {
		t.Errorf("a new environment: %+v", again)
	}
}

// alerts takes a right away, and reads what people are told of it.
func (s *stack) alerts(t *testing.T) {
	t.Helper()
	s.grant(t, "statefulsets, ")
	defer s.grant(t, "")
	if r := s.function.Invoke(t.Context(), []byte("{}")); r.Error == nil || !strings.HasPrefix(r.Error.Message, "not read: statefulsets: forbidden: ") {
		t.Errorf("error %v", r.Error)
	}
	queues := sqs.NewFromConfig(s.moto.Config())
	err := controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		got, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: s.queue, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"},
		})
		if err != nil {
			return err
		}
		for _, m := range got.Messages {
			var a alert.Alert
			if err := json.Unmarshal([]byte(*m.Body), &a); err == nil && a.Site == s.name && a.Kind == alert.Unread && a.State == alert.Raised {
				return nil
			}
		}
		return fmt.Errorf("%d messages, none of them of site %s", len(got.Messages), s.name)
	})
	if err != nil {
		t.Error(err)
	}
}

// rotated gives the function another token while it is warm: one tick fails, and
// the next reads the secret anew.
func (c *cloud) rotated(t *testing.T) {
	vault := secretsmanager.NewFromConfig(c.moto.Config())
	if _, err := vault.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("gitlatch/token"), SecretString: aws.String("github_pat_1")}); err != nil {
		t.Fatal(err)
	}
	c.github.Grant("github_pat_1")
	s := c.site(t, "gh-token", func(t *testing.T, name string, files map[string]string) (*gitserver.Origin, string, func(testing.TB, string, bool)) {
		return c.github.Create(t, name, files), fmt.Sprintf("{github: {repository: %s/%s, apiURL: %q, tokenSecret: gitlatch/token}}", github.Owner, name, c.github.APIURL()), nil
	})
	s.ticks(t)
	c.github.Expire()
	c.github.Grant("github_pat_2")
	if _, err := vault.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: aws.String("gitlatch/token"), SecretString: aws.String("github_pat_2")}); err != nil {
		t.Fatal(err)
	}
	r := s.function.Invoke(t.Context(), []byte("{}"))
	if r.Error == nil || !strings.Contains(r.Error.Message, "reconcile with git: ") || strings.Contains(r.Error.Message+r.Logs, "github_pat_") {
		t.Errorf("error %v, logs\n%s", r.Error, r.Logs)
	}
	s.ticks(t)
	s.ticks(t)
	s.declared(t)
}

// noEntry shows the API server a key of a role that it does not know.
func (c *cloud) noEntry(t *testing.T) {
	s := c.site(t, "stranger", c.onCodeCommit("direct"))
	stranger := c.eks.Environment(c.eks.Key(strings.Replace(session, "/latch/", "/stranger/", 1)))
	f := runtimeapi.Start(t, c.binary, append(append([]string{configVariable + "=" + s.document}, c.env...), stranger...)...)
	r := f.Invoke(t.Context(), []byte("{}"))
	if r.Error == nil || !strings.Contains(r.Error.Message, "--principal-arn arn:aws:iam::"+account+":role/stranger --kubernetes-groups gitlatch:samplers") {
		t.Errorf("error %v", r.Error)
	}
	if strings.Contains(r.Logs+fmt.Sprint(r.Error), "k8s-aws-v1.") {
		t.Errorf("a token in %s", r.Logs)
	}
}

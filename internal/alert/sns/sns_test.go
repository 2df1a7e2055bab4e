package sns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/alert/sns"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const arn = "arn:aws:sns:eu-west-1:123456789012:gitlatch"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// topic is a topic with SNS's limit of 256 KiB for a message and its attributes.
type topic struct {
	sent []*awssns.PublishInput
	// fails is its answer to every request; may be nil.
	fails error
}

func (p *topic) Publish(_ context.Context, in *awssns.PublishInput, _ ...func(*awssns.Options)) (*awssns.PublishOutput, error) {
	if p.fails != nil {
		return nil, p.fails
	}
	size := len(*in.Message)
	for name, a := range in.MessageAttributes {
		size += len(name) + len(*a.DataType) + len(*a.StringValue)
	}
	if size > 256<<10 {
		return nil, &types.InvalidParameterException{Message: aws.String("Invalid parameter: Message too long")}
	}
	p.sent = append(p.sent, in)
	return &awssns.PublishOutput{}, nil
}

// broken returns the tick's alert about the checkpoint file of a namespace with 56
// workloads, after one sed command broke all of its 168 lines.
func broken(t *testing.T) alert.Alert {
	t.Helper()
	r := checkpoint.Record{Namespace: "recommendations", Entries: map[workload.ID]checkpoint.Entry{}}
	for i := range 56 {
		name := fmt.Sprintf("recommendations-for-returning-customers-of-the-shop-%d", i)
		r.Entries[workload.ID{Namespace: r.Namespace, Kind: workload.Deployment, Name: name}] = checkpoint.Entry{Replicas: 100, Min: 10, Max: 2000}
	}
	data := bytes.ReplaceAll(r.Format(), []byte("deployment."), []byte("deploy."))
	file := checkpoint.RecordPath("prod-eu", r.Namespace)
	tree, err := checkpoint.ParseTree("prod-eu", map[string][]byte{file: data})
	if err != nil || tree.Broken[r.Namespace] == nil {
		t.Fatal("the record is not broken", err)
	}
	_, alerts := alert.Advance("prod-eu", nil, []alert.Condition{{Kind: alert.Invalid, Subject: file, Text: tree.Broken[r.Namespace].Error()}}, noon, time.Hour)
	return alerts[0]
}

func send(t *testing.T, to sns.Topic, a alert.Alert) error {
	t.Helper()
	n, err := a.Notice()
	if err != nil {
		t.Fatal(err)
	}
	return to.Send(t.Context(), n)
}

func TestTheAlertOfABrokenRecordIsTaken(t *testing.T) {
	t.Parallel()
	of := &topic{}
	a := broken(t)
	if err := send(t, sns.Topic{ARN: arn, Client: of}, a); err != nil {
		t.Fatalf("a text of %d bytes: %v", len(a.Text), err)
	}
	if !strings.Contains(*of.sent[0].Message, "and 163 more") {
		t.Errorf("does not say how many there are: %s", *of.sent[0].Message)
	}
}

// A message contains the text for users once, and the alert for programs once.
func TestAnAlertIsInAMessageOnce(t *testing.T) {
	t.Parallel()
	of := &topic{}
	a := alert.Alert{ID: "1", Site: "prod-eu", Condition: alert.Condition{Kind: alert.MassDrop, Text: "12 workloads lost half"}, State: alert.Raised}
	if err := send(t, sns.Topic{ARN: arn, Client: of}, a); err != nil {
		t.Fatal(err)
	}
	var bodies map[string]string
	if err := json.Unmarshal([]byte(*of.sent[0].Message), &bodies); err != nil {
		t.Fatal(err)
	}
	var got alert.Alert
	if err := json.Unmarshal([]byte(bodies["default"]), &got); err != nil || got != a {
		t.Errorf("machines get %q, %v", bodies["default"], err)
	}
	if bodies["email"] != a.Message() || bodies["sms"] != a.Message() || len(bodies) != 4 {
		t.Errorf("people get %q", bodies)
	}
}

// Amazon Q Developer in chat applications accepts its event schema of version 1.0. It
// drops any other message without an error.
func TestAChatGetsACustomNotification(t *testing.T) {
	t.Parallel()
	of := &topic{}
	a := alert.Alert{ID: "1", Site: "prod-eu", State: alert.Raised, Severity: alert.Critical, Since: noon, At: noon,
		Condition: alert.Condition{Kind: alert.Blocked, Subject: "main", Text: "refused: <!channel> & <https://example.com|click>", Fix: "let it push"}}
	for _, state := range []alert.State{alert.Raised, alert.Resolved} {
		a.State = state
		if err := send(t, sns.Topic{ARN: arn, Client: of}, a); err != nil {
			t.Fatal(err)
		}
	}
	const begins = `{"version":"1.0","source":"custom","id":"1","content":{"textType":"client-markdown",` +
		`"title":":rotating_light: [critical] gitlatch prod-eu: publishing-blocked main",` +
		`"description":"[critical] gitlatch prod-eu: publishing-blocked main: refused: &lt;!channel&gt; &amp; &lt;https://example.com|click&gt;\n\nFix:    let it push\nHelp:   gitlatch help runbook, if the cluster is lost or rebuilt\n        gitlatch help troubleshooting\n",` +
		`"nextSteps":["let it push"],"keywords":["prod-eu","publishing-blocked","critical"]},` +
		`"metadata":{"threadId":"gitlatch prod-eu: publishing-blocked main","summary":"[critical] gitlatch prod-eu: publishing-blocked main","eventType":"publishing-blocked",` +
		`"additionalContext":{"severity":"critical","site":"prod-eu","state":"raised"}}}`
	got := chats(t, of.sent)
	var want, first any
	if json.Unmarshal([]byte(begins), &want) != nil || json.Unmarshal([]byte(got[0]), &first) != nil || !reflect.DeepEqual(first, want) {
		t.Errorf("got  %s\nwant %s", got[0], begins)
	}
	if !strings.Contains(got[1], `"threadId":"gitlatch prod-eu: publishing-blocked main"`) || strings.Contains(got[1], "nextSteps") {
		t.Errorf("what is over is not in its thread, or asks for something: %s", got[1])
	}
}

// chats are what subscribers over https get.
func chats(t *testing.T, sent []*awssns.PublishInput) (all []string) {
	t.Helper()
	for _, in := range sent {
		var bodies map[string]string
		if err := json.Unmarshal([]byte(*in.Message), &bodies); err != nil {
			t.Fatal(err)
		}
		all = append(all, bodies["https"])
	}
	return all
}

func TestWhatIsRefusedForGood(t *testing.T) {
	t.Parallel()
	said := func(code, text string) error { return &smithy.GenericAPIError{Code: code, Message: text} }
	for _, test := range []struct {
		name    string
		err     error
		forGood bool
		words   string
	}{
		{"too long", &types.InvalidParameterException{Message: aws.String("Invalid parameter: Message too long")}, true, "rejects this message"},
		{"a subject", &types.InvalidParameterException{Message: aws.String("Invalid parameter: Subject")}, true, "Subject"},
		{"a value", &types.InvalidParameterValueException{Message: aws.String("no")}, true, "rejects this message"},
		{"no valid request", &types.ValidationException{Message: aws.String("no")}, true, "rejects this message"},
		// A topic with a wrong name accepts no alert until a user corrects the name.
		{"no topic's name", &types.InvalidParameterException{Message: aws.String("Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1")}, false, "alerts.topicArn"},
		{"no topic", &types.NotFoundException{Message: aws.String("Topic does not exist")}, false, "deploy the stack again"},
		{"no rights", &types.AuthorizationErrorException{Message: aws.String("no")}, false, "allow sns:Publish"},
		{"throttled", said("Throttling", "Rate exceeded"), false, "Rate exceeded"},
		{"down", said("InternalError", "try again"), false, "try again"},
		{"silent", context.DeadlineExceeded, false, "deadline"},
	} {
		err := send(t, sns.Topic{ARN: arn, Client: &topic{fails: test.err}}, alert.Alert{})
		var refused *alert.RefusedError
		if errors.As(err, &refused) != test.forGood || !errors.Is(err, test.err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if !strings.Contains(fmt.Sprint(err), test.words) || !strings.Contains(fmt.Sprint(err), arn) {
			t.Errorf("%s: %v, want %q", test.name, err, test.words)
		}
	}
}

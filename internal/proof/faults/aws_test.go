//go:build aws

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

// TestAWS covers faults of the table and of the topic. All rows reach them through one
// gateway. The cluster is a fake.
func TestAWS(t *testing.T) {
	a := &cloud{state: dynalite.Start(t), moto: moto.Start(t), sites: map[string]*member{}}
	a.gateway = gateway.Start(t, map[string]string{"dynamodb": a.state.URL, "sns": a.moto.URL})
	for _, operation := range []string{"dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "sns:Publish"} {
		a.gateway.Intercept(operation, a.calls(operation))
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": a.gateway.URL, "AWS_REGION": moto.Region,
		"AWS_ACCESS_KEY_ID": "AKIDCANARY", "AWS_SECRET_ACCESS_KEY": awsSecret, "AWS_SESSION_TOKEN": awsSession,
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
	} {
		t.Setenv(name, value)
	}
	run(t, awsRows(), a.site)
}

// A cloud contains the parts that the sites share.
type cloud struct {
	state   *dynalite.Server
	moto    *moto.Server
	gateway *gateway.Gateway

	mu    sync.Mutex
	sites map[string]*member
}

// A member is the cloud's data for a site.
type member struct {
	faults map[string]fault // by operation, or by service
	told   []string         // messages that the topic accepted
}

// site creates a site with a table and a topic.
func (a *cloud) site(t *testing.T, site string) *world {
	t.Helper()
	table := a.state.Table(t, "pk", "sk")
	topic, err := sns.NewFromConfig(a.moto.Config()).CreateTopic(t.Context(), &sns.CreateTopicInput{Name: &site})
	if err != nil {
		t.Fatal(err)
	}
	m := &member{faults: map[string]fault{}}
	a.mu.Lock()
	a.sites[site] = m
	a.mu.Unlock()
	w := newWorld(t, site, fmt.Sprintf("state: {dynamodb: %s}\nalerts: {topicArn: %q}\n", table, *topic.TopicArn))
	w.names[table], w.names[*topic.TopicArn] = "TABLE", "TOPIC"
	w.fails = func(which string, do fault) {
		a.mu.Lock()
		defer a.mu.Unlock()
		m.faults[which] = w.meets(do)
	}
	w.told = func(*testing.T) []string {
		a.mu.Lock()
		defer a.mu.Unlock()
		return append([]string(nil), m.told...)
	}
	w.held = func(t *testing.T) []string {
		all, err := a.state.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
		if err != nil {
			t.Fatal(err)
		}
		var items []string
		for _, item := range all.Items {
			for name, value := range item {
				items = append(items, fmt.Sprintf("%s %#v", name, value))
			}
		}
		return items
	}
	return w
}

// calls lets the fault of a call's site answer the call, and records the messages to a
// topic.
func (a *cloud) calls(operation string) func(http.ResponseWriter, *http.Request, http.Handler) {
	service, _, _ := strings.Cut(operation, ":")
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("X-Amz-Security-Token") != awsSession {
			gateway.Fault(http.StatusForbidden, "UnrecognizedClientException", "who is this?").ServeHTTP(w, r)
			return
		}
		body := read(r)
		a.mu.Lock()
		m := a.sites[siteOf(body)]
		do := m.faults[operation]
		if do == nil {
			do = m.faults[service]
		}
		a.mu.Unlock()
		if do == nil {
			do = func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }
		}
		do(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if service == "sns" {
				a.mu.Lock()
				m.told = append(m.told, messageOf(body))
				a.mu.Unlock()
			}
		}))
	}
}

// siteOf returns the site of a call, from the key of an item or the name of a topic.
func siteOf(body []byte) string {
	if _, rest, ok := bytes.Cut(body, []byte(`"site#`)); ok {
		site, _, _ := bytes.Cut(rest, []byte(`"`))
		return string(site)
	}
	form, _ := url.ParseQuery(string(body))
	topic := form.Get("TopicArn")
	return topic[strings.LastIndex(topic, ":")+1:]
}

// messageOf returns the text for programs, and then the text for users.
func messageOf(body []byte) string {
	form, _ := url.ParseQuery(string(body))
	bodies := map[string]string{}
	_ = json.Unmarshal([]byte(form.Get("Message")), &bodies)
	return bodies["default"] + "\n" + bodies["email"] + "\n" + form.Get("Subject")
}

// says replies with an error in the call's protocol.
func says(code int, kind, words string) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		gateway.Fault(code, kind, words).ServeHTTP(w, r)
	}
}

// signed is the AWS error for a wrong signature, which contains the signed text.
func signed(w http.ResponseWriter, r *http.Request, next http.Handler) {
	says(http.StatusBadRequest, "InvalidSignatureException", "The request signature we calculated does not match. What was signed: x-amz-security-token:"+r.Header.Get("X-Amz-Security-Token"))(w, r, next)
}

// once makes the first attempt of each request fail.
func once(do fault) fault {
	var mu sync.Mutex
	seen := map[string]bool{}
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		id := r.Header.Get("Amz-Sdk-Invocation-Id")
		mu.Lock()
		first := !seen[id]
		seen[id] = true
		mu.Unlock()
		if first {
			do(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// of applies a fault to a service or an operation.
func of(which string, do fault) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) { w.fails(which, do) }
}

// pushed is like of, but starts when the push is sent.
func pushed(which string, do fault) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) { w.git.BeforePush(func() { w.fails(which, do) }) }
}

// over removes all faults of a service.
func over(which string) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) {
		w.git.Intercept(nil)
		w.fails(which, nil)
	}
}

var (
	throttled = says(http.StatusBadRequest, "ThrottlingException", "Rate exceeded")
	internal  = says(http.StatusInternalServerError, "InternalServerError", "something broke")
)

func awsRows() []row {
	return []row{
		{name: "table throttled once", begins: of("dynamodb", once(throttled)), ends: over("dynamodb")},
		{name: "table fails once", begins: of("dynamodb", once(internal)), ends: over("dynamodb")},
		{name: "replies of writes lost", begins: of("dynamodb:UpdateItem", once(lost)), ends: over("dynamodb:UpdateItem")},
		{name: "replies cut half-way", begins: of("dynamodb", half(cut)), ends: over("dynamodb"), says: "take the lease of site SITE: read lease of site SITE: table TABLE: operation error DynamoDB: GetItem, https response error StatusCode: 200, RequestID: ID, deserialization failed, unexpected EOF"},
		{name: "a reply lost, and the next end half-way", begins: of("dynamodb", behind(half(ended), first(1, cut))), ends: over("dynamodb"), says: "take the lease of site SITE: read lease of site SITE: table TABLE: operation error DynamoDB: GetItem, https response error StatusCode: 200, RequestID: ID, deserialization failed, unterminated string at offset 18"},
		{name: "replies that end half-way", begins: of("dynamodb", half(ended)), ends: over("dynamodb"), says: "take the lease of site SITE: read lease of site SITE: table TABLE: operation error DynamoDB: GetItem, https response error StatusCode: 200, RequestID: ID, deserialization failed, unterminated string at offset 18"},
		{name: "table throttled", begins: of("dynamodb", throttled), ends: over("dynamodb"), says: "take the lease of site SITE: read lease of site SITE: table TABLE is throttled: use on-demand capacity, or raise the provisioned capacity (ThrottlingException: Rate exceeded)"},
		{name: "table fails", begins: of("dynamodb", internal), ends: over("dynamodb"), says: "take the lease of site SITE: read lease of site SITE: table TABLE: operation error DynamoDB: GetItem, exceeded maximum number of attempts, 3, https response error StatusCode: 500, RequestID: , InternalServerError: something broke"},
		{name: "table throttled after the push", begins: pushed("dynamodb", throttled), ends: over("dynamodb"), says: "save: read lease of site SITE: table TABLE is throttled: use on-demand capacity, or raise the provisioned capacity (ThrottlingException: Rate exceeded)\ngive back the lease of site SITE: WHY"},
		{name: "table fails after the push", begins: pushed("dynamodb", internal), ends: over("dynamodb"), says: "save: read lease of site SITE: table TABLE: operation error DynamoDB: GetItem, exceeded maximum number of attempts, 3, https response error StatusCode: 500, RequestID: , InternalServerError: something broke\ngive back the lease of site SITE: WHY"},
		{name: "table gone after it wrote", begins: pushed("dynamodb", lost), ends: over("dynamodb"), says: "save: read lease of site SITE: table TABLE: operation error DynamoDB: GetItem, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \"http://HOST/\": EOF\ngive back the lease of site SITE: WHY"},
		{name: "table silent after the push", begins: pushed("dynamodb", stalled), ends: over("dynamodb"), says: "save: read lease of site SITE: table TABLE: operation error DynamoDB: GetItem, https response error StatusCode: 0, RequestID: , canceled, context deadline exceeded\ngive back the lease of site SITE: WHY"},
		{name: "table repeats what was signed", begins: of("dynamodb", signed), ends: over("dynamodb"), says: "take the lease of site SITE: read lease of site SITE: table TABLE does not accept the credentials: check them, and the clock of this machine (InvalidSignatureException: The request signature we calculated does not match. What was signed: x-amz-security-token:(hidden))"},

		{name: "topic down for an hour", begins: of("sns", internal), ends: over("sns"), ticks: 12, says: "send alert \"[warning] gitlatch SITE: surge SITE/deployment/web\": topic TOPIC: operation error SNS: Publish, exceeded maximum number of attempts, 3, https response error StatusCode: 500, RequestID: , api error InternalServerError: something broke"},
		{name: "topic throttled", begins: of("sns", says(http.StatusBadRequest, "Throttling", "Rate exceeded")), ends: over("sns"), says: "send alert \"[warning] gitlatch SITE: surge SITE/deployment/web\": topic TOPIC: operation error SNS: Publish, exceeded maximum number of attempts, 3, https response error StatusCode: 400, RequestID: , api error Throttling: Rate exceeded"},
		{name: "topic silent", begins: of("sns", stalled), ends: over("sns"), says: "send alert \"[warning] gitlatch SITE: surge SITE/deployment/web\": topic TOPIC: operation error SNS: Publish, https response error StatusCode: 0, RequestID: , canceled, context deadline exceeded"},
		{name: "topic cut", begins: of("sns", cut), ends: over("sns"), says: "send alert \"[warning] gitlatch SITE: surge SITE/deployment/web\": topic TOPIC: operation error SNS: Publish, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \"http://HOST/\": EOF"},
		{name: "topic repeats what was signed", begins: of("sns", signed), ends: over("sns"), says: "send alert \"[warning] gitlatch SITE: surge SITE/deployment/web\": topic TOPIC: it does not accept the credentials: check them, and the clock of this machine (operation error SNS: Publish, https response error StatusCode: 400, RequestID: , api error InvalidSignatureException: The request signature we calculated does not match. What was signed: x-amz-security-token:(hidden))"},
	}
}

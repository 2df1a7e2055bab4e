//go:build aws

package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/smithy-go/middleware"

	alerts "github.com/gitlatch/gitlatch/internal/alert/sns"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/eks"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	repos "github.com/gitlatch/gitlatch/internal/repo/codecommit"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/report"
	standcc "github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/replay"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// period is the time from one tick to the next.
const period = 5 * time.Minute

// stands are the stand-ins for AWS. Many sites may share them.
type stands struct {
	dynamo *dynalite.Server
	moto   *moto.Server
	eks    *standeks.Server
	key    aws.Credentials
}

func newStands(t *testing.T) *stands {
	s := &stands{dynamo: dynalite.Start(t), moto: moto.Start(t), eks: standeks.Start(t)}
	s.key = s.eks.Key("arn:aws:sts::123456789012:assumed-role/latch/session")
	return s
}

// tables returns the configuration for DynamoDB clients.
func (s *stands) tables() aws.Config {
	own := s.moto.Config()
	own.BaseEndpoint = aws.String(s.dynamo.URL)
	return own
}

// A meter counts the requests to each service.
type meter struct {
	mu    sync.Mutex
	asked Asked
}

// take returns the requests since its last call.
func (m *meter) take() Asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.asked
	m.asked = Asked{}
	return asked
}

func (m *meter) note(service, operation string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked.note(service, operation)
}

// sent is the context key of a call's counter. The counter counts a call that was sent,
// and not one that was only signed, such as a token. It counts a call once, even if it
// is sent again because a stand-in on a busy machine closed the connection.
type sent struct{}

// wrap makes all clients of a configuration count their calls, and the DynamoDB clients
// also the capacity units of each call.
func (m *meter) wrap(c aws.Config) aws.Config {
	weighed := middleware.InitializeMiddlewareFunc("weigh", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		weigh(in.Parameters)
		out, metadata, err := next.HandleInitialize(context.WithValue(ctx, sent{}, new(sync.Once)), in)
		m.units(in.Parameters, out.Result)
		return out, metadata, err
	})
	counted := middleware.DeserializeMiddlewareFunc("count", func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		ctx.Value(sent{}).(*sync.Once).Do(func() {
			m.note(strings.ToLower(awsmiddleware.GetServiceID(ctx)), awsmiddleware.GetOperationName(ctx))
		})
		return next.HandleDeserialize(ctx, in)
	})
	c.APIOptions = append(c.APIOptions[:len(c.APIOptions):len(c.APIOptions)], func(stack *middleware.Stack) error {
		return errors.Join(stack.Initialize.Add(weighed, middleware.After), stack.Deserialize.Add(counted, middleware.After))
	})
	return c
}

// weigh asks DynamoDB to return the capacity that a call consumed.
func weigh(parameters any) {
	switch in := parameters.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	case *dynamodb.DeleteItemInput:
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	}
}

// units adds the capacity that a call consumed. A failed call reports none.
func (m *meter) units(parameters, result any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch out := result.(type) {
	case *dynamodb.GetItemOutput:
		m.asked.ReadUnits += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.QueryOutput:
		m.asked.ReadUnits += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.UpdateItemOutput:
		m.asked.WriteUnits += *out.ConsumedCapacity.CapacityUnits
		if key := parameters.(*dynamodb.UpdateItemInput).Key["sk"]; key.(*types.AttributeValueMemberS).Value != "head" {
			m.asked.Latches++
		}
	case *dynamodb.DeleteItemOutput:
		m.asked.WriteUnits += *out.ConsumedCapacity.CapacityUnits
		m.asked.Latches++
	}
}

// kubernetes counts the requests to an API server: a GET for one object, a LIST for each
// page.
func (m *meter) kubernetes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := "LIST"
		if strings.Contains(r.URL.Path, "/namespaces/kube-system") {
			operation = "GET"
		}
		m.note("kubernetes", operation)
		next.ServeHTTP(w, r)
	})
}

// RoundTrip counts a request to a git server.
func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	m.note("git", strings.TrimPrefix(r.URL.Path, "/site.git/"))
	return http.DefaultTransport.RoundTrip(r)
}

// measured is a site that ticks on the clock of a trace. It counts all requests.
type measured struct {
	*meter
	t      *testing.T
	stands *stands

	trace    *traces.Trace
	endpoint *replay.Endpoint
	now      time.Time
	config   config.Config
	open     func() local.Parts // opens the parts of a new environment
	parts    local.Parts
	table    string
	ticks    int
}

// A host is the kind of host of the repository.
type host string

const (
	onGit        host = "git"
	onCodeCommit host = "codecommit"
)

const policyFile = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"

func measure(t *testing.T, s *stands, name string, on host, trace *traces.Trace) *measured {
	t.Helper()
	m := &measured{meter: &meter{}, t: t, stands: s, trace: trace, endpoint: replay.New(trace), table: s.dynamo.Table(t, "pk", "sk")}
	clock := func() time.Time { return m.now }
	var err error
	m.config, err = config.ParseConfig("config", fmt.Appendf(nil, `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {eks: {name: %s}}
state: {dynamodb: {table: %s}}
repository: {codecommit: {name: site}}
alerts: {sns: {topicArn: 'arn:aws:sns:eu-west-1:123456789012:%s'}}
period: %s
`, name, m.table, name, period))
	m.must(err)

	server := httptest.NewTLSServer(m.kubernetes(m.endpoint))
	t.Cleanup(server.Close)
	s.eks.Describe(name, standeks.Cluster{
		Account: "123456789012", Endpoint: server.URL,
		CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	})
	topics := sns.NewFromConfig(s.moto.Config())
	topic, err := topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: &name})
	m.must(err)
	hosted := m.host(on)
	m.open = func() local.Parts {
		cluster := eks.New(m.wrap(s.eks.Config(s.key)), eks.Options{Name: name, Site: m.config.Site, Clock: clock})
		p := local.Parts{
			Sampler: cluster, Clock: clock,
			Store:  dynamo.Open(dynamo.Options{Table: m.table, Client: dynamodb.NewFromConfig(m.wrap(s.tables()))}),
			Alerts: alerts.Topic{ARN: *topic.TopicArn, Client: sns.NewFromConfig(m.wrap(s.moto.Config()))},
		}
		hosted(&p)
		return p
	}
	m.parts = m.open()
	return m
}

// host makes a repository and returns a function that opens it.
func (m *measured) host(on host) func(*local.Parts) {
	files := map[string]string{m.config.Repository.PolicyFile: policyFile}
	if on == onCodeCommit {
		server := standcc.Start(m.t)
		server.Create(m.t, "site", files)
		own := m.stands.moto.Config()
		own.BaseEndpoint, own.Region = aws.String(server.Endpoint()), standcc.Region
		return func(p *local.Parts) {
			r, err := repos.Open(repos.Options{Repository: "site", Branch: "main", Client: codecommit.NewFromConfig(m.wrap(own)), Region: own.Region})
			m.must(err)
			p.Repository, p.Proposals = r, r
		}
	}
	server := gitserver.Start(m.t)
	server.Create(m.t, "site", files)
	return func(p *local.Parts) {
		r, err := gitwire.Open(gitwire.Options{URL: server.URL("site"), Branch: "main", Transport: m.meter})
		m.must(err)
		m.t.Cleanup(func() { m.must(r.Close()) })
		p.Repository = r
	}
}

// tick runs the tick at an offset from the start of the trace, like the Lambda, and
// returns its requests.
func (m *measured) tick(at time.Duration) (Kind, Asked) {
	m.t.Helper()
	m.endpoint.Seek(at)
	m.now = m.trace.Start.Add(at)
	m.ticks++
	m.parts.Owner = fmt.Sprintf("latch/00000000-0000-4000-8000-%012d", m.ticks)
	m.take()
	r, err := local.Tick(m.config, m.parts).Run(m.t.Context())
	if err := errors.Join(err, r.Err()); err != nil {
		m.t.Fatalf("tick at %s: %v", at, err)
	}
	var log bytes.Buffer
	report.Log(report.NewLogger(&log, m.parts.Clock), r, 0, nil)
	m.must(report.WriteMetrics(&log, r, m.now))
	asked := m.take()
	asked.LogBytes = log.Len()
	return kindOf(r, asked), asked
}

func kindOf(r tick.Report, asked Asked) Kind {
	switch {
	case r.Commit != nil && len(r.Commit.Changes) > 1:
		return Crossings
	case r.Commit != nil:
		return Crossing
	case asked.Latches > 0:
		return Timers
	}
	return Quiet
}

func (m *measured) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

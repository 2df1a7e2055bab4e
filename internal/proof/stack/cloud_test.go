//go:build aws

package stack

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A cloud is the part of CloudFormation, S3 and STS that a deployment by SAM needs. It
// creates no resources. It stores the uploads and the deployments.
type cloud struct {
	t   *testing.T
	URL string // the endpoint of every service

	mu      sync.Mutex
	objects map[string]string // by their paths
	stacks  map[string]*stack // by their names
	ended   time.Time         // when the last deployment was over
}

// A stack has the change sets that were executed, in order, and the last one that was
// created.
type stack struct {
	executed []changeSet
	made     changeSet
}

// A changeSet is a template with SAM's parameters. A parameter without a value has its
// default.
type changeSet struct {
	template string
	given    map[string]string
}

// parameters returns the parameters of the stack's last deployment.
func (s *stack) parameters() map[string]string {
	if len(s.executed) == 0 {
		return nil
	}
	return s.executed[len(s.executed)-1].given
}

// managed is the stack with SAM's bucket. It exists from the start.
const managed = "aws-sam-cli-managed-default"

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{t: t, objects: map[string]string{}, stacks: map[string]*stack{}, ended: time.Now()}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// deployed returns the deployments of a stack, in order.
func (c *cloud) deployed(t *testing.T, name string) (all []deployment) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.stacks[name]; s != nil {
		for _, changes := range s.executed {
			all = append(all, deploy(t, parse(t, "the template of "+name, changes.template), name, changes.given))
		}
	}
	return all
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	switch _, stored := c.objects[r.URL.Path]; {
	case r.Method == http.MethodPut:
		c.objects[r.URL.Path] = string(body)
	case r.Method == http.MethodHead && !stored:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPost:
		c.formation(w, body)
	case r.Method != http.MethodHead:
		c.t.Errorf("SAM asks for what the cloud of this test does not know: %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotImplemented)
	}
}

// formation answers like CloudFormation.
func (c *cloud) formation(w http.ResponseWriter, body []byte) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		c.t.Error(err)
	}
	action, name := form.Get("Action"), form.Get("StackName")
	s, known := c.stacks[name]
	if !known && !slices.Contains([]string{"", managed}, name) && action != "CreateChangeSet" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id %s does not exist</Message></Error></ErrorResponse>", name)
		return
	}
	var answer string
	switch action {
	case "GetCallerIdentity": // of STS
		answer = element("Account", account)
	case "DescribeStacks":
		answer = element("Stacks", element("member", c.described(name)))
	case "CreateChangeSet":
		if !known {
			s = &stack{}
			c.stacks[name] = s
		}
		s.made = c.changeSet(s, form)
		answer = element("Id", "arn:change-set") + element("StackId", "arn:"+name)
	case "DescribeChangeSet":
		answer = element("Status", "CREATE_COMPLETE") + element("Changes", "")
	case "ExecuteChangeSet":
		s.executed = append(s.executed, s.made)
		c.ended = time.Now()
	case "GetTemplateSummary":
		var all strings.Builder
		for _, key := range slices.Sorted(maps.Keys(s.parameters())) {
			all.WriteString(element("member", element("ParameterKey", key)))
		}
		answer = element("Parameters", all.String())
	case "DescribeStackEvents":
		answer = element("StackEvents", element("member", element("EventId", fmt.Sprint(c.ended.UnixNano()))+
			element("Timestamp", c.ended.UTC().Format(time.RFC3339Nano))+element("StackId", "arn:"+name)+element("StackName", name)+
			element("LogicalResourceId", name)+element("PhysicalResourceId", "arn:"+name)+
			element("ResourceType", "AWS::CloudFormation::Stack")+element("ResourceStatus", c.status(name))))
	default:
		c.t.Errorf("SAM asks for what the cloud of this test does not know: %s", action)
	}
	fmt.Fprint(w, element(action+"Response", element(action+"Result", answer)))
}

func (c *cloud) described(name string) string {
	text := element("StackName", name) + element("StackId", "arn:"+name) + element("CreationTime", "2026-03-02T08:15:00Z") +
		element("StackStatus", c.status(name))
	if name == managed {
		text += element("Outputs", element("member", element("OutputKey", "SourceBucket")+element("OutputValue", "bucket"))) +
			element("Tags", element("member", element("Key", "ManagedStackSource")+element("Value", "AwsSamCli")))
	}
	return text
}

func (c *cloud) status(name string) string {
	switch s := c.stacks[name]; {
	case s == nil || len(s.executed) == 1:
		return "CREATE_COMPLETE"
	case len(s.executed) == 0:
		return "REVIEW_IN_PROGRESS"
	}
	return "UPDATE_COMPLETE"
}

// changeSet returns the change set of a request, with the previous values that the
// request keeps.
func (c *cloud) changeSet(s *stack, form url.Values) changeSet {
	uploaded, err := url.Parse(form.Get("TemplateURL"))
	if err != nil {
		c.t.Error(err)
		return changeSet{}
	}
	given := map[string]string{}
	for i := 1; form.Has(fmt.Sprintf("Parameters.member.%d.ParameterKey", i)); i++ {
		of := func(field string) string { return form.Get(fmt.Sprintf("Parameters.member.%d.%s", i, field)) }
		given[of("ParameterKey")] = of("ParameterValue")
		if of("UsePreviousValue") == "true" {
			given[of("ParameterKey")] = s.parameters()[of("ParameterKey")]
		}
	}
	return changeSet{c.objects[uploaded.Path], given}
}

func element(name, text string) string {
	if !strings.HasPrefix(text, "<") {
		var escaped strings.Builder
		_ = xml.EscapeText(&escaped, []byte(text)) // a Builder returns no error
		text = escaped.String()
	}
	return "<" + name + ">" + text + "</" + name + ">"
}

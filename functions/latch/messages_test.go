//go:build aws

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"

	passes "github.com/gitlatch/gitlatch/internal/tick"
)

// A message is a message to a subscriber of the topic.
type message struct {
	alert.Alert
	attributes map[string]string
}

// hears waits for one message of the topic, and returns it.
func (s *stack) hears(t *testing.T) (m message) {
	t.Helper()
	queues := sqs.NewFromConfig(s.moto.Config())
	err := controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		got, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &s.queue, MaxNumberOfMessages: 1, MessageAttributeNames: []string{"All"}})
		if err != nil {
			return err
		}
		if len(got.Messages) == 0 {
			return errors.New("the topic sent no message")
		}
		m.attributes = map[string]string{}
		for name, value := range got.Messages[0].MessageAttributes {
			m.attributes[name] = *value.StringValue
		}
		if err := json.Unmarshal([]byte(*got.Messages[0].Body), &m.Alert); err != nil {
			return fmt.Errorf("message %s: %w", *got.Messages[0].Body, err)
		}
		_, err = queues.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &s.queue, ReceiptHandle: got.Messages[0].ReceiptHandle})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// expect fails the test unless the next message has the given kind and state.
func (s *stack) expect(t *testing.T, kind alert.Kind, state alert.State) message {
	t.Helper()
	m := s.hears(t)
	if m.Kind != kind || m.State != state || m.Site != s.name {
		t.Errorf("message %+v, want %s %s", m.Alert, kind, state)
	}
	return m
}

// silent fails the test if the queue has another message.
func (s *stack) silent(t *testing.T) {
	t.Helper()
	got, err := sqs.NewFromConfig(s.moto.Config()).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &s.queue})
	if err != nil || len(got.Messages) > 0 {
		t.Errorf("messages %+v, error %v", got.Messages, err)
	}
}

// heartbeats counts the lines of metrics, which must have all metrics of a site that
// latches.
func heartbeats(t *testing.T, site, logs string) (n int) {
	t.Helper()
	var line strings.Builder
	if err := report.WriteMetrics(&line, passes.Report{}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	if err := json.Unmarshal([]byte(line.String()), &want); err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(logs) {
		if !strings.Contains(text, `"_aws":`) {
			continue
		}
		n++
		values := map[string]any{}
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		for name, value := range want {
			_, counts := value.(float64)
			if _, ok := values[name].(float64); counts && !ok {
				t.Errorf("no number %s in %s", name, text)
			}
		}
		if values["site"] != site || values["Heartbeat"] != 1.0 {
			t.Errorf("line %s", text)
		}
	}
	return n
}

// texts returns the text of the last published message. The queue receives only JSON.
func (s *stack) texts(t *testing.T) string {
	t.Helper()
	last := ""
	for _, call := range s.gateway.Calls() {
		if call.Operation != "sns:Publish" {
			continue
		}
		form, err := url.ParseQuery(string(call.Body))
		bodies := map[string]string{}
		if err == nil {
			err = json.Unmarshal([]byte(form.Get("Message")), &bodies)
		}
		if err != nil {
			t.Fatal(err)
		}
		last = bodies["email"]
	}
	return last
}

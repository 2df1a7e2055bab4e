package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Creator tries to create objects, and creates none.
type Creator interface {
	// Create sends a dry-run CREATE of an object in JSON to the path of its resource. It
	// returns nil if the API server admits the object, also if the name exists, and otherwise
	// the error of the API server.
	Create(ctx context.Context, path string, object []byte) error
}

// atOnce is the number of dry-run requests that Try has open at the same time.
const atOnce = 10

// Try sends a dry-run CREATE of each live workload with a level, at its level: one request for
// each of them. It sets Tried and DryRuns.
func (c *Case) Try(ctx context.Context, from Lister, to Creator) {
	c.Tried = map[workload.ID]error{}
	var together sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, kind := range c.Kinds().All() {
		levels := map[workload.ID]int32{}
		for id, entry := range c.Tree.Entries() {
			if id.Kind == kind && entry.Replicas > 0 && c.Cluster.live[id] != nil {
				levels[id] = entry.Replicas
			}
		}
		o, _ := c.Kinds().Object(kind)
		if len(levels) == 0 {
			continue
		}
		all, failed := from.List(ctx, o.Path(), o.Resource, o.Kind)
		if failed != nil {
			together.Lock()
			for id := range levels {
				c.Tried[id] = failed
			}
			together.Unlock()
		}
		for _, data := range all {
			group.Go(func() error {
				object, id, err := manifestOf(data, kind, o, levels)
				if object != nil {
					err = to.Create(ctx, fmt.Sprintf("%s/namespaces/%s/%s", o.Path(), id.Namespace, o.Resource), object)
				}
				together.Lock()
				defer together.Unlock()
				if levels[id] > 0 {
					c.Tried[id] = err
				}
				if object != nil {
					c.DryRuns++
				}
				return nil
			})
		}
	}
	_ = group.Wait() // the functions return no error
}

// manifestOf returns a live workload as a tool would create it, at its level: without the
// fields that the API server and controllers set. object is nil for a workload without a
// level.
func manifestOf(
	data []byte, kind workload.Kind, o workload.Object, levels map[workload.ID]int32,
) (object []byte, id workload.ID, err error) {
	var of struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     map[string]any    `json:"spec"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&of)
	id = workload.ID{Namespace: of.Metadata.Namespace, Kind: kind, Name: of.Metadata.Name}
	if err != nil || levels[id] == 0 {
		return nil, id, err
	}
	delete(of.Metadata.Annotations, corev1.LastAppliedConfigAnnotation)
	made := map[string]any{
		"apiVersion": o.APIVersion(), "kind": o.Kind, "spec": of.Spec,
		"metadata": metav1.ObjectMeta{
			Namespace: id.Namespace, Name: id.Name,
			Labels: of.Metadata.Labels, Annotations: of.Metadata.Annotations,
		},
	}
	at, names := made, o.Replicas.Names()
	for _, name := range names[:len(names)-1] {
		below, ok := at[name].(map[string]any)
		if !ok || below == nil {
			below = map[string]any{}
		}
		at[name], at = below, below
	}
	at[names[len(names)-1]] = levels[id]
	object, err = json.Marshal(made)
	return object, id, err
}

// admitted answers whether the API server admits the creation of a workload at its level. The
// answer holds for the user who runs doctor: a policy may have other rules for a tool.
func (e *examination) admitted(s subject) Answer {
	if e.Tried == nil {
		return Open("", "not tried", "run \"gitlatch doctor --try\"")
	}
	err, tried := e.Tried[s.ID]
	text, status := refusal(err)
	evidence := Evidence{Object: s.ID.String(), Field: fmt.Sprintf("dry-run CREATE at %d replicas", s.Level), At: e.Fleet.At, Value: text}
	used, overfull := exceeds(text)
	switch {
	case !tried:
		return Open("", "the cluster does not have the workload, so doctor cannot try its creation", "run doctor on a cluster that has the workload")
	case err == nil, used && !overfull:
		return Shows("the API server admits the workload at its level", evidence)
	case mayNot(text):
		return Open("", "your user may not create the workload, so doctor cannot try it", remedy("forbidden"), evidence) // missingRights reports it
	case used:
		return Open(AdmissionUnknown, "the namespace has more objects than its quota allows: "+text, "raise the quota", evidence)
	case refuses(status, text):
		return Refutes(AdmissionRefuses, "the API server refuses the workload at its level: "+text,
			"change the policy or webhook that refuses the workload, or lower the workload's level and its _max in the checkpoint file", evidence)
	}
	return Open(AdmissionUnknown, "the API server did not decide: "+text, "make the webhook support dry runs (sideEffects: None), or correct the cause. Then run \"gitlatch doctor --try\" again", evidence)
}

// named matches the object at the start of a message.
var named = regexp.MustCompile(`^\S+( "[^"]*")? is (forbidden|invalid): `)

// refusal returns the text of an error without the name of the object, so that equal texts are
// equal, and the status of the API server. The status is zero for another error.
func refusal(err error) (text string, status metav1.Status) {
	if err == nil {
		return "", status
	}
	text = err.Error()
	var of apierrors.APIStatus
	if errors.As(err, &of) {
		status = of.Status()
		text = named.ReplaceAllString(status.Message, "")
	}
	return sanitize.Words(text), status
}

// refuses reports whether the API server decided against the object. A failed webhook and the
// end of a namespace do not count.
func refuses(status metav1.Status, text string) bool {
	ends := apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: status}, corev1.NamespaceTerminatingCause)
	denied := strings.Contains(text, "denied the request") || strings.Contains(text, "denied request")
	return denied || !ends && (status.Code == http.StatusForbidden && strings.Contains(text, "exceeded quota") || status.Code == http.StatusUnprocessableEntity)
}

// mayNot reports whether the user lacks the right to create the object.
func mayNot(text string) bool {
	return strings.HasPrefix(text, "User ") && strings.Contains(text, " cannot create resource ")
}

// quotaText matches the refusal of a full quota on the number of objects. An object with an
// existing name needs no room in it.
var quotaText = regexp.MustCompile(`^exceeded quota: \S+, requested: \S+=1, used: \S+=(\w+), limited: \S+=(\w+)$`)

// exceeds reports whether a text is the refusal of such a quota, and whether the namespace has
// more objects than the quota allows, so that a rebuild cannot create all of them.
func exceeds(text string) (quota, overfull bool) {
	found := quotaText.FindStringSubmatch(text)
	if found == nil {
		return false, false
	}
	used, err := resource.ParseQuantity(found[1])
	limited, failed := resource.ParseQuantity(found[2])
	return true, errors.Join(err, failed) != nil || used.Cmp(limited) > 0
}

// untried returns the missing rights to create workloads.
func (e *examination) untried() (rights []right) {
	for id, err := range e.Tried {
		text, _ := refusal(err)
		o, _ := e.Kinds().Object(id.Kind)
		needs := right{"", o.Group, o.Resource}
		if mayNot(text) && !slices.Contains(rights, needs) {
			rights = append(rights, needs)
		}
	}
	slices.SortFunc(rights, func(a, b right) int { return strings.Compare(a.String(), b.String()) })
	return rights
}

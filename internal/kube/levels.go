package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// admissionPath is the API path of admission policies and their bindings.
const admissionPath = "/apis/admissionregistration.k8s.io/v1"

// The rights that ReadLevels needs, and the command that grants them.
const (
	grantPolicy     = `Grant get on mutatingadmissionpolicies "gitlatch-levels": run "kubectl apply -k infra/rbac"`
	grantBindings   = `Grant list on mutatingadmissionpolicybindings: run "kubectl apply -k infra/rbac"`
	grantConfigMaps = `Grant get and list on configmaps in namespace gitlatch-levels: run "kubectl apply --server-side -f checkpoints/admission"`
)

var bindings = row[map[string]any]{resource: "mutatingadmissionpolicybindings", path: admissionPath, json: true,
	page: custom("MutatingAdmissionPolicyBindingList", func(o *map[string]any) map[string]any { return *o })}

var configMaps = row[admission.ConfigMap]{resource: "configmaps", path: "/api/v1", json: true,
	page: custom("ConfigMapList", readConfigMap)}

// A configMap has the fields to read of a ConfigMap.
type configMap struct {
	metav1.ObjectMeta `json:"metadata"`

	Data map[string]string `json:"data"`
}

func readConfigMap(o *configMap) admission.ConfigMap {
	annotations := maps.Clone(o.Annotations)
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	return admission.ConfigMap{
		Name: o.Name, Data: o.Data, Labels: o.Labels, Annotations: annotations,
		Managers: lists.Map(o.ManagedFields, func(e metav1.ManagedFieldsEntry) admission.Manager {
			m := admission.Manager{Name: e.Manager, Operation: string(e.Operation)}
			if e.Time != nil {
				m.Time = e.Time.UTC()
			}
			return m
		}),
	}
}

// ReadLevels reads the objects of gitlatch in the cluster. It sends at most four requests,
// and one more for each further page of a list. A part that could not be read has the reason,
// with the missing right. If the cluster does not have Kubernetes 1.36 or later, only the
// version is read.
func (s *Sampler) ReadLevels(ctx context.Context) admission.Levels { return readLevels(ctx, s.client) }

// ReadLevels is like the method of Sampler.
func (o *Objects) ReadLevels(ctx context.Context) admission.Levels { return readLevels(ctx, o.client) }

func readLevels(ctx context.Context, client rest.Interface) admission.Levels {
	ctx = klog.NewContext(ctx, klog.Logger{}) // client-go also logs the errors that it returns
	minor, err := minorOf(ctx, client)
	if err != nil {
		return admission.UnreadLevels(admission.Unread[int](unreadable("the version of Kubernetes", err, "")), "the version of Kubernetes is unknown")
	}
	if minor < admission.Minor {
		return admission.UnreadLevels(admission.Observed(minor), fmt.Sprintf("Kubernetes 1.%d does not serve the admission policy of gitlatch", minor))
	}
	read := admission.Levels{Version: admission.Observed(minor)}
	var all sync.WaitGroup
	all.Go(func() { read.Policy = readPolicy(ctx, client) })
	all.Go(func() { read.Bindings = readAll(ctx, client, bindings, "", grantBindings) })
	all.Go(func() { read.ConfigMaps = readAll(ctx, client, configMaps, admission.Namespace, grantConfigMaps) })
	all.Wait()
	return read
}

// readAll lists the objects of a row. grant is the remedy for a missing right.
func readAll[R any](ctx context.Context, client rest.Interface, r row[R], namespace, grant string) admission.Part[[]R] {
	found, err := list(ctx, client, r, Selection{Namespace: namespace}, all[R])
	if err != nil {
		return admission.Unread[[]R](unreadable(r.resource, err, grant))
	}
	return admission.Observed(found)
}

// readPolicy reads the admission policy of gitlatch.
func readPolicy(ctx context.Context, client rest.Interface) admission.Read {
	const resource = "mutatingadmissionpolicies"
	var answer bytes.Buffer
	var object map[string]any
	request := client.Get().AbsPath(admissionPath).Resource(resource).Name(admission.Name).SetHeader("Accept", "application/json")
	err := receive(ctx, request, &answer)
	if apierrors.IsNotFound(err) {
		return admission.Missing()
	}
	if err == nil {
		err = json.Unmarshal(answer.Bytes(), &object)
	}
	if err != nil {
		return admission.Failed(unreadable(resource, err, grantPolicy))
	}
	return admission.Present(object)
}

// unreadable returns the reason why a part could not be read. grant is the remedy for a
// missing right; "" if the part needs no right.
func unreadable(part string, err error, grant string) string {
	text := sanitize.Words(part + " could not be read: " + words(err))
	if grant != "" && apierrors.IsForbidden(err) {
		text += ". " + grant
	}
	return text
}

// minorOf returns the minor version of the server, whose major version must be 1.
func minorOf(ctx context.Context, client rest.Interface) (int, error) {
	var answer bytes.Buffer
	err := receive(ctx, client.Get().AbsPath("/version").SetHeader("Accept", "application/json"), &answer)
	if err != nil {
		return 0, err
	}
	var version struct{ Major, Minor string }
	err = json.Unmarshal(answer.Bytes(), &version)
	if err != nil {
		return 0, fmt.Errorf("decode the version: %w", err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(version.Minor, "+"))
	if err != nil || version.Major != "1" {
		return 0, fmt.Errorf("the version is %q.%q, and 1 and a number were expected", version.Major, version.Minor)
	}
	return minor, nil
}

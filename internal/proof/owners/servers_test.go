//go:build gitops

package owners

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/gitlatch/gitlatch/internal/admission"
)

// rounds is the number of new policies.
const rounds = 10

// servers measures when each of two API servers acts on a new policy, and on a changed level.
func (r *rebuild) servers(t *testing.T) {
	t.Helper()
	apis := []dynamic.Interface{r.dyn, client(r.Another(t))}
	r.Apply(t, namespace(admission.Namespace), namespace(teams[0]), probed(teams[0], level))
	var news, changes [2][]time.Duration
	apart := 0
	for i := range rounds {
		_, err := apis[0].Resource(policies).Create(t.Context(), object(t, policy(t)), metav1.CreateOptions{})
		must(t, err)
		took, early := raised(t, apis, level)
		apart += early
		next := level + 1 + i
		_, err = apis[0].Resource(configmaps).Namespace(admission.Namespace).Update(t.Context(), object(t, strings.Split(probed(teams[0], next), "---\n")[1]), metav1.UpdateOptions{})
		must(t, err)
		took2, _ := raised(t, apis, int64(next))
		for s := range apis {
			news[s] = append(news[s], took[s])
			changes[s] = append(changes[s], took2[s])
		}
		must(t, apis[0].Resource(policies).Delete(t.Context(), admission.Name, metav1.DeleteOptions{}))
		raised(t, apis, 1)
		r.Apply(t, probed(teams[0], level))
	}
	for s := range apis {
		t.Logf("API server %d acts on a new policy after %s, on a changed level after %s", s+1, spread(news[s]), spread(changes[s]))
	}
	t.Logf("in %d of %d rounds, one API server created an unraised Deployment after the other had raised one", apart, rounds)
	r.result("two API servers, a new policy", "each acts by itself, and goes on")
}

// probed are the levels of a namespace with a level for the probe.
func probed(team string, n int) string {
	return levels(team, map[string]string{"deployment." + probe: fmt.Sprint(n)})
}

// changed applies another level, and returns the level that acts after the younger levels of
// another namespace act.
func (r *rebuild) changed(t *testing.T, api dynamic.Interface, n int, other string) string {
	t.Helper()
	r.Apply(t, namespace(other), probed(teams[0], n), probed(other, n))
	eventually(t, "the levels of "+other+" act", func(ctx context.Context) error {
		return would(ctx, t, api, other, probe, int64(n))
	})
	got, err := try(t.Context(), t, api, teams[0], probe)
	must(t, err)
	return fmt.Sprintf("a change from %d to %d acts as %d", level, n, got)
}

// unbound removes the binding of a namespace, and applies it again with another level: beside
// other bindings, as the last binding of a namespace, and as the last binding in the cluster.
func (r *rebuild) unbound(t *testing.T) {
	t.Helper()
	for i, c := range []struct {
		name   string
		remove []string
	}{
		{"the binding of a namespace removed and applied again, beside other bindings", nil},
		{"the same for the last binding of a namespace, beside the watch binding", []string{"watcher"}},
		{"the same for the last binding with ConfigMaps in the cluster", []string{admission.WatchBinding}},
	} {
		r.Apply(t, policyFile(t), probed(teams[0], level))
		r.acts(t, teams[0], probe, level)
		all := append([]string{"delete", "mutatingadmissionpolicybindings", admission.BindingName(teams[0])}, c.remove...)
		if i > 0 {
			all = append(all, admission.BindingName(teams[i]))
		}
		r.Kubectl(t, "", all...)
		r.acts(t, teams[0], probe, 1)
		r.result(c.name, r.changed(t, r.dyn, level+1, teams[i+1]))
	}
}

// denies is a policy of somebody else that has ConfigMaps as parameters, with its binding.
const denies = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: denies}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: "object.metadata.name != 'denied'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: denies}
spec:
  policyName: denies
  paramRef: {namespace: gitlatch-levels, name: alpha, parameterNotFoundAction: Allow}
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: alpha}}}
`

// foreign removes the binding of a policy of somebody else from an API server that watches
// ConfigMaps for that policy first. The watch binding does not keep this watch.
func (r *rebuild) foreign(t *testing.T) {
	t.Helper()
	r.Kubectl(t, "", "delete", "mutatingadmissionpolicybindings", "--all")
	r.Apply(t, denies)
	api := client(r.Another(t))
	denied := func(want bool) func(context.Context) error {
		return func(ctx context.Context) error {
			if _, err := try(ctx, t, api, teams[0], "denied"); apierrors.IsInvalid(err) != want {
				return fmt.Errorf("its answer is %v", err)
			}
			return nil
		}
	}
	eventually(t, "the other policy denies", denied(true))
	r.Apply(t, policyFile(t), probed(teams[0], level))
	r.changed(t, api, level, teams[4])
	r.Kubectl(t, "", "delete", "validatingadmissionpolicybindings", "denies")
	eventually(t, "the other policy denies no more", denied(false))
	r.result("an older policy of somebody else with ConfigMaps loses its last binding", r.changed(t, api, level+1, teams[5]))
}

// raised waits until each API server would create a Deployment with a replica count. It
// returns the times, and 1 if one of them did later than another had.
func raised(t *testing.T, apis []dynamic.Interface, want int64) (took [2]time.Duration, apart int) {
	t.Helper()
	began := time.Now()
	eventually(t, fmt.Sprintf("all API servers create with %d", want), func(ctx context.Context) error {
		for s, api := range apis {
			got, err := try(ctx, t, api, teams[0], probe)
			if err != nil {
				return err
			}
			switch acts := got == want; {
			case acts && took[s] == 0:
				took[s] = time.Since(began)
			case !acts && took[s] != 0:
				t.Errorf("API server %d creates with %d after it has created with %d", s+1, got, want)
			}
		}
		if slices.Contains(took[:], 0) {
			if took != [2]time.Duration{} {
				apart = 1
			}
			return fmt.Errorf("they did after %v", took)
		}
		return nil
	})
	return took, apart
}

func spread(all []time.Duration) string {
	slices.Sort(all)
	round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("%s to %s, median %s", round(all[0]), round(all[len(all)-1]), round(all[len(all)/2]))
}

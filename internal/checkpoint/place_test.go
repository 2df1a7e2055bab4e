package checkpoint

import "testing"

func TestPlacesAreTheLinesOfAFile(t *testing.T) {
	t.Parallel()
	tree, err := ParseTree(example.Name, map[string][]byte{shopRecord: []byte(`# by hand
metadata: {name: gitlatch-checkpoint, namespace: shop}
data:
  # the largest first
  deployment.web_max: 500

  deployment.web: "200"
  daemonset.agent_milestone: "25"
  daemonset.agent_phase: "halted"
  daemonset.agent_from: "a"
  daemonset.agent_to: "b"
  daemonset.agent_returns: "from"
  daemonset.agent_differ: "more"
kind: ConfigMap
apiVersion: v1
`), payRecord: []byte("apiVersion: v1\n")})
	if err != nil {
		t.Fatal(err)
	}
	got := tree.Places()
	agent := shopWeb
	agent.Kind, agent.Name = "daemonset", "agent"
	if want := (Place{File: shopRecord, Level: 7, Max: 5}); got[shopWeb] != want {
		t.Errorf("web is at %+v, want %+v", got[shopWeb], want)
	}
	if want := (Place{File: shopRecord, Milestone: 8}); got[agent] != want {
		t.Errorf("agent is at %+v, want %+v", got[agent], want)
	}
	if len(got) != 2 {
		t.Errorf("a broken record has places: %v", got)
	}
	if !tree.Has(shopRecord) || tree.Has(shopComponent) {
		t.Error("it does not know its files")
	}
}

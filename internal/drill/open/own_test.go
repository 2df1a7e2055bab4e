package open_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// Without a hub, destination is the name of the cluster in the site's own Argo CD.
func TestADestinationOfTheSitesOwnArgoCD(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod-eu"
	for destination, want := range map[string]string{arn: arn, "prod-eu": "name: prod-eu", "https://api.example.com": "https://api.example.com"} {
		c, err := config.ParseConfig("config.yaml", fmt.Appendf(nil, "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {memory: {}}\nrepository: {url: /srv/site.git}\ngitops: {destination: %q}\n", destination))
		if err != nil {
			t.Errorf("%s: %v", destination, err)
			continue
		}
		_, here, err := open.Hub(t.Context(), &wiring.Opener{Config: c}, nil, doctor.Here{Servers: []string{"https://10.0.0.1"}})
		if err != nil || here.Hub || !slices.Equal(here.Servers, []string{"https://10.0.0.1", want}) {
			t.Errorf("%s: %+v, %v", destination, here, err)
		}
	}
}

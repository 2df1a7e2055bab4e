package account

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/fit"
)

func TestTheCNIHasAModeOrIsUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want fit.CNI
		why  string
	}{
		"no VPC CNI":        {nil, fit.CNI{}, "the cluster has no DaemonSet kube-system/aws-node"},
		"defaults":          {map[string]string{}, fit.CNI{WarmInterfaces: 1, WarmPrefixes: 1}, ""},
		"prefixes":          {map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "2"}, fit.CNI{Prefix: true, WarmInterfaces: 1, WarmPrefixes: 2}, ""},
		"warm addresses":    {map[string]string{"ENABLE_PREFIX_DELEGATION": "false", "WARM_IP_TARGET": "5", "MINIMUM_IP_TARGET": "20", "WARM_ENI_TARGET": "0"}, fit.CNI{WarmAddresses: 5, MinAddresses: 20, WarmPrefixes: 1}, ""},
		"IPv6":              {map[string]string{"ENABLE_IPv6": "true"}, fit.CNI{Apart: true, WarmInterfaces: 1, WarmPrefixes: 1}, ""},
		"custom networking": {map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "1"}, fit.CNI{Apart: true, WarmInterfaces: 1, WarmPrefixes: 1}, "custom networking"},
		"no number":         {map[string]string{"WARM_IP_TARGET": "some"}, fit.CNI{WarmInterfaces: 1, WarmPrefixes: 1}, "sets WARM_IP_TARGET to a value that is not a number"},
	} {
		got, failed := mode(c.env)
		if got != c.want || len(failed) > 1 || (len(failed) == 1) != (c.why != "") || c.why != "" && (failed[0].Adds || failed[0].Name != "addresses of pods" || !strings.Contains(failed[0].Why, c.why)) {
			t.Errorf("%s: %+v with %+v, want %+v", name, got, failed, c.want)
		}
	}
}

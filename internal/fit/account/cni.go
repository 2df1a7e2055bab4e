package account

import (
	"strconv"

	"github.com/gitlatch/gitlatch/internal/fit"
)

// mode returns the mode of the VPC CNI from the environment of the container aws-node of
// the DaemonSet kube-system/aws-node. A nil environment is a cluster without the
// DaemonSet. The readings are the parts of the mode that are unknown.
func mode(env map[string]string) (fit.CNI, []fit.Reading) {
	const name = "addresses of pods"
	if env == nil {
		return fit.CNI{}, []fit.Reading{{Name: name, Why: "the cluster has no DaemonSet kube-system/aws-node, so its CNI is unknown"}}
	}
	var failed []fit.Reading
	number := func(key string, otherwise int64) int64 {
		text, set := env[key]
		if !set {
			return otherwise
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			failed = append(failed, fit.Reading{Name: name, Why: "the DaemonSet kube-system/aws-node sets " + key + " to a value that is not a number"})
		}
		return max(n, 0)
	}
	yes := func(key string) bool { on, err := strconv.ParseBool(env[key]); return on && err == nil }
	c := fit.CNI{
		Prefix:         yes("ENABLE_PREFIX_DELEGATION"),
		Apart:          yes("ENABLE_IPv6"), // only the nodes take IPv4 addresses
		WarmInterfaces: number("WARM_ENI_TARGET", 1),
		WarmPrefixes:   number("WARM_PREFIX_TARGET", 1),
		WarmAddresses:  number("WARM_IP_TARGET", 0),
		MinAddresses:   number("MINIMUM_IP_TARGET", 0),
	}
	if yes("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG") {
		c.Apart = true
		failed = append(failed, fit.Reading{Name: name, Why: "custom networking takes the addresses from the subnets in ENIConfig objects, which gitlatch does not read"})
	}
	return c, failed
}

package account_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/account"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// The values of the documentation of Karpenter for its defaults, and those of an
// EC2NodeClass that sets all fields.
func TestANodeHasTheRoomThatKarpenterComputes(t *testing.T) {
	t.Parallel()
	w := start(t)
	read := w.reader().Read(t.Context(), w.subnets)
	for _, c := range []struct {
		name, spec, instance  string
		capacity, allocatable fit.Resources
	}{
		{"defaults", `{"amiSelectorTerms": [{"alias": "al2023@latest"}]}`, "m5.large",
			fit.Resources{fit.CPU: 2000, fit.Memory: 7577 * mib, fit.Storage: 20 * gib, fit.Pods: 29},
			fit.Resources{fit.CPU: 1930, fit.Memory: 6903 * mib, fit.Storage: 17 * gib, fit.Pods: 29}},
		{"arm64", `{"amiSelectorTerms": [{"alias": "al2023@latest"}]}`, "m7g.4xlarge",
			fit.Resources{fit.CPU: 16000, fit.Memory: 60561 * mib, fit.Storage: 20 * gib, fit.Pods: 234},
			fit.Resources{fit.CPU: 15890, fit.Memory: (60561 - 2829 - 100) * mib, fit.Storage: 17 * gib, fit.Pods: 234}},
		{"prefixes", `{"amiFamily": "AL2023", "kubelet": {"maxPods": 110}}`, "m5.large",
			fit.Resources{fit.CPU: 2000, fit.Memory: 7577 * mib, fit.Storage: 20 * gib, fit.Pods: 110},
			fit.Resources{fit.CPU: 1930, fit.Memory: (7577 - 1465 - 100) * mib, fit.Storage: 17 * gib, fit.Pods: 110}},
		{"prefixes with AL2", `{"amiFamily": "AL2", "kubelet": {"maxPods": 110}}`, "m5.large",
			fit.Resources{fit.CPU: 2000, fit.Memory: 7577 * mib, fit.Storage: 20 * gib, fit.Pods: 110},
			fit.Resources{fit.CPU: 1930, fit.Memory: 6903 * mib, fit.Storage: 17 * gib, fit.Pods: 110}},
		{"everything", `{"amiSelectorTerms": [{"alias": "al2023@v1"}], "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "100Gi"}}],
			"kubelet": {"podsPerCore": 10, "kubeReserved": {"cpu": "100m", "memory": "1Gi"}, "systemReserved": {"cpu": "1", "ephemeral-storage": "2Gi"},
			"evictionHard": {"memory.available": "200Mi", "nodefs.available": "5%"}, "evictionSoft": {"memory.available": "100%", "nodefs.available": "20%"}}}`, "m5.large",
			fit.Resources{fit.CPU: 2000, fit.Memory: 7577 * mib, fit.Storage: 100 * gib, fit.Pods: 20},
			fit.Resources{fit.CPU: 900, fit.Memory: (7577 - 1024 - 200) * mib, fit.Storage: (100 - 1 - 2 - 20) * gib, fit.Pods: 20}},
		{"bottlerocket", `{"amiSelectorTerms": [{"alias": "bottlerocket@latest"}], "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "4Gi"}},
			{"deviceName": "/dev/xvdb", "ebs": {"volumeSize": "40Gi"}}], "kubelet": {"podsPerCore": 1, "evictionSoft": {"memory.available": "50%"}}}`, "m5.large",
			fit.Resources{fit.CPU: 2000, fit.Memory: 7577 * mib, fit.Storage: 40 * gib, fit.Pods: 29},
			fit.Resources{fit.CPU: 1930, fit.Memory: 6903 * mib, fit.Storage: 35 * gib, fit.Pods: 29}},
		{"local disks", `{"amiFamily": "AL2023", "instanceStorePolicy": "RAID0"}`, "m5d.large",
			fit.Resources{fit.CPU: 2000, fit.Memory: 7577 * mib, fit.Storage: 75e9, fit.Pods: 29},
			fit.Resources{fit.CPU: 1930, fit.Memory: 6903 * mib, fit.Storage: 75e9 - 75e8 - gib, fit.Pods: 29}},
	} {
		class := w.parse(t, c.spec)
		got := shape(t, w.shapes(read, class), c.instance)
		if !maps.Equal(got.Capacity, c.capacity) || !maps.Equal(got.Allocatable, c.allocatable) {
			t.Errorf("%s: %s has %v of %v\nwant %v of %v", c.name, c.instance, got.Allocatable, got.Capacity, c.allocatable, c.capacity)
		}
	}
	if all := w.shapes(read, w.parse(t, `{"amiSelectorTerms": [{"alias": "windows2022@latest"}]}`)); len(all) > 0 {
		t.Errorf("%d instance types run Windows", len(all))
	}
}

func (w world) parse(t *testing.T, spec string) account.Class {
	t.Helper()
	status, _ := json.Marshal(map[string]any{"subnets": []any{map[string]string{"id": w.subnets[0], "zone": "ignored"}}})
	class, err := account.ParseClass(json.RawMessage(`{"metadata": {"name": "default"}, "spec": ` + spec + `, "status": ` + string(status) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return class
}

func (w world) shapes(read account.Account, class account.Class) []fit.Shape {
	return read.Into(fit.Room{Pools: []fit.Pool{{Name: "default"}}}, map[string]account.Class{"default": class}, false).Pools[0].Shapes
}

func TestANodeHasTheLabelsThatKarpenterSets(t *testing.T) {
	t.Parallel()
	w := start(t)
	got := shape(t, w.room(t).Pools[0].Shapes, "m5d.large")
	want := map[string]string{
		fit.InstanceType: "m5d.large", fit.Arch: "amd64", "kubernetes.io/os": "linux", "topology.kubernetes.io/region": "eu-west-1",
		"karpenter.k8s.aws/instance-family": "m5d", "karpenter.k8s.aws/instance-size": "large",
		"karpenter.k8s.aws/instance-category": "m", "karpenter.k8s.aws/instance-generation": "5",
		"karpenter.k8s.aws/instance-cpu": "2", "karpenter.k8s.aws/instance-memory": "8192", "karpenter.k8s.aws/instance-cpu-manufacturer": "intel",
		"karpenter.k8s.aws/instance-hypervisor": "nitro", "karpenter.k8s.aws/instance-encryption-in-transit-supported": "false",
		"karpenter.k8s.aws/instance-network-bandwidth": "750", "karpenter.k8s.aws/instance-ebs-bandwidth": "4750", "karpenter.k8s.aws/instance-local-nvme": "75",
	}
	if !reflect.DeepEqual(got.Labels, want) {
		t.Errorf("labels %v, want %v", got.Labels, want)
	}
	if got.VCPUs != 2 || got.Interfaces != 3 || got.PerInterface != 10 {
		t.Errorf("vCPUs and interfaces of %+v", got)
	}
}

func TestAClassThatCannotBeParsedIsAnError(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`[]`: "parse an EC2NodeClass",
		`{"metadata": {"name": "a"}, "spec": {"kubelet": {"systemReserved": {"memory": "much"}}}}`:               "EC2NodeClass a: memory",
		`{"metadata": {"name": "a"}, "spec": {"kubelet": {"evictionHard": {"memory.available": "a lot of %"}}}}`: "EC2NodeClass a: memory.available",
	} {
		if _, err := account.ParseClass(json.RawMessage(object)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", object, err, want)
		}
	}
}

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
		"warm addresses":    {map[string]string{"ENABLE_PREFIX_DELEGATION": "false", "WARM_IP_TARGET": "5", "WARM_ENI_TARGET": "0"}, fit.CNI{WarmAddresses: 5, WarmPrefixes: 1}, ""},
		"IPv6":              {map[string]string{"ENABLE_IPv6": "true"}, fit.CNI{Apart: true, WarmInterfaces: 1, WarmPrefixes: 1}, ""},
		"custom networking": {map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "1"}, fit.CNI{Apart: true, WarmInterfaces: 1, WarmPrefixes: 1}, "custom networking"},
		"no number":         {map[string]string{"WARM_IP_TARGET": "some"}, fit.CNI{WarmInterfaces: 1, WarmPrefixes: 1}, "sets WARM_IP_TARGET to a value that is not a number"},
	} {
		got, failed := account.CNI(c.env)
		if got != c.want || len(failed) > 1 || (len(failed) == 1) != (c.why != "") || c.why != "" && (failed[0].Adds || failed[0].Name != "addresses of pods" || !strings.Contains(failed[0].Why, c.why)) {
			t.Errorf("%s: %+v with %+v, want %+v", name, got, failed, c.want)
		}
	}
}

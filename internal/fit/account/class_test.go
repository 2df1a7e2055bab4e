//go:build aws

package account_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/fit"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

func TestANodeIsAsKarpenterComputes(t *testing.T) {
	t.Parallel()
	w := start(t)
	t.Run("room", w.hasRoom)
	t.Run("labels", w.hasLabels)
	t.Run("no instance types", w.hasNoInstanceTypes)
}

// The first row has the values in the documentation of Karpenter.
func (w world) hasRoom(t *testing.T) {
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
		room := w.roomOf(t, cluster{class(t, c.spec, w.subnets...), map[string]string{}})
		got := shape(t, room.Pools[0].Shapes, c.instance)
		if !maps.Equal(got.Capacity, c.capacity) || !maps.Equal(got.Allocatable, c.allocatable) {
			t.Errorf("%s: %s has %v of %v\nwant %v of %v", c.name, c.instance, got.Allocatable, got.Capacity, c.allocatable, c.capacity)
		}
	}
}

func (w world) hasLabels(t *testing.T) {
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

func (w world) hasNoInstanceTypes(t *testing.T) {
	for object, want := range map[string]string{
		`[]`: "parse an EC2NodeClass: json",
		class(t, `{"kubelet": {"systemReserved": {"memory": "much"}}}`, w.subnets...):           "EC2NodeClass default: memory: ",
		class(t, `{"kubelet": {"evictionHard": {"memory.available": "a lot%"}}}`, w.subnets...): "EC2NodeClass default: memory.available: ",
		class(t, `{"amiSelectorTerms": [{"alias": "windows2022@latest"}]}`, w.subnets...):       "its nodes run Windows",
		class(t, `{}`): "the status of EC2NodeClass default lists no subnets",
	} {
		got := w.roomOf(t, cluster{object, map[string]string{}})
		if len(got.Unknown) != 1 || got.Unknown[0].Name != "instance types of NodePool default" || !strings.HasPrefix(got.Unknown[0].Why, want) {
			t.Errorf("%s: unknown %+v, want %s", object, got.Unknown, want)
		}
	}
}

//go:build aws

package account_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/account"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

const standard = "L-1216C47A Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"

// quotas are a response with the vCPU quotas of a new account, and a quota of another kind.
var quotas = map[string]any{"Quotas": []map[string]any{
	{"QuotaCode": "L-0263D0A3", "QuotaName": "EC2-VPC Elastic IPs", "Value": 5},
	{"QuotaCode": "L-1216C47A", "QuotaName": standard[11:], "Value": 32},
	{"QuotaCode": "L-34B43A08", "QuotaName": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "Value": 5},
}}

// A world is an account in moto with a cluster, and a gateway in front of it.
type world struct {
	*gateway.Gateway
	config  aws.Config // to moto, without the gateway
	subnets []string   // in zones a and b
}

// start makes an account with the cluster prod, its node group base, and two subnets with
// 11 free addresses each.
func start(t *testing.T) world {
	t.Helper()
	stand := moto.Start(t)
	w := world{Gateway: gateway.Start(t, map[string]string{"ec2": stand.URL, "eks": stand.URL, "servicequotas": stand.URL}), config: stand.Config()}
	client := ec2.NewFromConfig(w.config)
	vpc, err := client.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	if err != nil {
		t.Fatal(err)
	}
	for i, zone := range []string{"a", "b"} {
		subnet, err := client.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{
			VpcId: vpc.Vpc.VpcId, CidrBlock: aws.String(fmt.Sprintf("10.0.%d.0/28", i)), AvailabilityZone: aws.String(moto.Region + zone),
		})
		if err != nil {
			t.Fatal(err)
		}
		w.subnets = append(w.subnets, *subnet.Subnet.SubnetId)
	}
	clusters := eks.NewFromConfig(w.config)
	if _, err := clusters.CreateCluster(t.Context(), &eks.CreateClusterInput{
		Name: aws.String("prod"), RoleArn: aws.String("arn:aws:iam::123456789012:role/cluster"), ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: w.subnets},
	}); err != nil {
		t.Fatal(err)
	}
	w.group(t, "base")
	for operation, parameter := range selected {
		w.Intercept(operation, fewer(parameter))
	}
	w.Instead("servicequotas:ListServiceQuotas", moto.Answer(t, "service-quotas", "ListServiceQuotas", quotas))
	w.Instead("ec2:DescribeCapacityReservations", moto.Answer(t, "ec2", "DescribeCapacityReservations", map[string]any{"CapacityReservations": []any{}}))
	return w
}

// selected are the parameters that select instance types, because moto takes seconds for
// all.
var selected = map[string]string{"ec2:DescribeInstanceTypes": "InstanceType.%d", "ec2:DescribeInstanceTypeOfferings": "Filter.1.Value.%d"}

// fewer adds a selection of instance types to a call.
func fewer(parameter string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		form := url.Values{"Filter.1.Name": {"instance-type"}}
		if !strings.HasPrefix(parameter, "Filter") {
			form = url.Values{}
		}
		for i, kind := range []string{"m5.large", "m5d.large", "m6g.large", "m7g.large", "m7g.xlarge", "m7g.4xlarge", "g4dn.xlarge", "p4d.24xlarge"} {
			form.Set(fmt.Sprintf(parameter, i+1), kind)
		}
		body, _ := io.ReadAll(r.Body) // it is in memory
		text := string(body) + "&" + form.Encode()
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		service.ServeHTTP(w, r)
	}
}

// group makes a managed node group of at most 5 nodes.
func (w world) group(t *testing.T, name string) {
	t.Helper()
	if _, err := eks.NewFromConfig(w.config).CreateNodegroup(t.Context(), &eks.CreateNodegroupInput{
		ClusterName: aws.String("prod"), NodegroupName: aws.String(name), NodeRole: aws.String("arn:aws:iam::123456789012:role/node"), Subnets: w.subnets[:1],
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), DesiredSize: aws.Int32(2), MaxSize: aws.Int32(5)},
		InstanceTypes: []string{"m7g.large", "m6g.large"}, AmiType: ekstypes.AMITypesAl2023Arm64Standard, CapacityType: ekstypes.CapacityTypesOnDemand,
		Labels: map[string]string{"tier": "base"}, Taints: []ekstypes.Taint{{Key: aws.String("base"), Effect: ekstypes.TaintEffectNoSchedule}},
	}); err != nil {
		t.Fatal(err)
	}
}

func (w world) reader() account.Reader {
	config := w.config.Copy()
	config.BaseEndpoint = aws.String(w.URL)
	config.RetryMaxAttempts = 1
	return account.New(config, "prod")
}

// A cluster has a NodePool, the VPC CNI and the Cluster Autoscaler.
type cluster struct {
	class string // EC2NodeClass of the NodePool; "" without a class
	env   map[string]string
}

func (c cluster) Classes() map[string]json.RawMessage {
	if c.class == "" {
		return nil
	}
	return map[string]json.RawMessage{"default": json.RawMessage(c.class)}
}

func (c cluster) Environment() map[string]string { return c.env }

func (c cluster) Autoscaled() bool { return true }

// class returns an EC2NodeClass with a spec, in some subnets.
func class(t *testing.T, spec string, subnets ...string) string {
	t.Helper()
	var all []map[string]string
	for _, id := range subnets {
		all = append(all, map[string]string{"id": id, "zone": "ignored"})
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]string{"name": "default"}, "spec": json.RawMessage(spec), "status": map[string]any{"subnets": all}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// room returns the room of a NodePool in the subnets of the account.
func (w world) room(t *testing.T) fit.Room {
	t.Helper()
	return w.roomOf(t, cluster{class(t, "{}", w.subnets...), map[string]string{}})
}

func (w world) roomOf(t *testing.T, c cluster) fit.Room {
	t.Helper()
	return w.reader().Room(t.Context(), fit.Room{Pools: []fit.Pool{{Name: "default"}}}, c)
}

func shape(t *testing.T, all []fit.Shape, name string) fit.Shape {
	t.Helper()
	i := slices.IndexFunc(all, func(s fit.Shape) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no %s in %d instance types", name, len(all))
	}
	return all[i]
}

func TestAnAccountIsTheRoomOfItsNodes(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.instances(t)
	got := w.room(t)
	if len(got.Unknown) > 0 {
		t.Errorf("unknown: %+v", got.Unknown)
	}
	// Two m5.large and a capacity reservation of one m7g.xlarge count.
	wantVCPUs := []fit.VCPUs{{Name: standard, Limit: 32, Used: 6}, {Name: "L-34B43A08 All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", Limit: 5, Used: 2}}
	if !reflect.DeepEqual(got.VCPUs, wantVCPUs) {
		t.Errorf("quotas %+v, want %+v", got.VCPUs, wantVCPUs)
	}
	// A Karpenter node of the cluster has 2 addresses and a prefix in the first subnet.
	wantSubnets := []fit.Subnet{{ID: w.subnets[0], Zone: moto.Region + "a", Free: 11 + 18}, {ID: w.subnets[1], Zone: moto.Region + "b", Free: 11}}
	slices.SortFunc(got.Subnets, func(x, y fit.Subnet) int { return strings.Compare(x.Zone, y.Zone) })
	if !reflect.DeepEqual(got.Subnets, wantSubnets) {
		t.Errorf("subnets %+v, want %+v", got.Subnets, wantSubnets)
	}
	if len(got.Groups) != 1 {
		t.Fatalf("groups %+v", got.Groups)
	}
	g := got.Groups[0]
	if g.Name != "base" || g.Size != 2 || g.Max != 5 || !g.Autoscaled || g.Labels["tier"] != "base" || g.Labels[fit.GroupLabel] != "base" ||
		!reflect.DeepEqual(g.Taints, []fit.Taint{{Key: "base", Effect: "NoSchedule"}}) || !slices.Equal(g.Subnets, w.subnets[:1]) {
		t.Errorf("group %+v", g)
	}
	if len(g.Shapes) != 2 || g.Shapes[0].Name != "m7g.large" || g.Shapes[0].Labels["karpenter.k8s.aws/instance-cpu"] != "" ||
		!reflect.DeepEqual(g.Shapes[0].Offers, []fit.Offer{{Zone: moto.Region + "a", Quota: standard}}) {
		t.Errorf("shapes of the group %+v", g.Shapes)
	}
	if s := got.Pools[0].Shapes; !slices.IsSortedFunc(s, func(x, y fit.Shape) int { return int(x.VCPUs - y.VCPUs) }) {
		t.Error("the smallest instance type is not the first")
	}
	if !slices.Equal(got.Pools[0].Subnets, w.subnets) {
		t.Errorf("subnets of the pool %v", got.Pools[0].Subnets)
	}
	m5 := shape(t, got.Pools[0].Shapes, "m5.large")
	want := []fit.Offer{
		{Zone: moto.Region + "a", CapacityType: "spot", Quota: wantVCPUs[1].Name}, {Zone: moto.Region + "b", CapacityType: "spot", Quota: wantVCPUs[1].Name},
		{Zone: moto.Region + "a", CapacityType: "on-demand", Quota: standard}, {Zone: moto.Region + "b", CapacityType: "on-demand", Quota: standard},
	}
	if !reflect.DeepEqual(m5.Offers, want) {
		t.Errorf("offers %+v, want %+v", m5.Offers, want)
	}
	for _, s := range got.Pools[0].Shapes {
		if s.Name[0] == 'p' || s.Name[0] == 'g' {
			t.Errorf("%s has no quota in the account, and is offered", s.Name)
		}
	}
}

// instances runs instances: some count toward the quotas, and some do not.
func (w world) instances(t *testing.T) {
	t.Helper()
	one := func(kind string, more map[string]any) map[string]any {
		more["InstanceType"] = kind
		return more
	}
	tag := func(pairs ...string) (tags []map[string]string) {
		for i := 0; i < len(pairs); i += 2 {
			tags = append(tags, map[string]string{"Key": pairs[i], "Value": pairs[i+1]})
		}
		return tags
	}
	w.Instead("ec2:DescribeInstances", moto.Answer(t, "ec2", "DescribeInstances", map[string]any{"Reservations": []any{map[string]any{"Instances": []any{
		one("m5.large", map[string]any{"Tags": tag("karpenter.sh/nodepool", "default", "eks:eks-cluster-name", "prod"), "NetworkInterfaces": []any{map[string]any{
			"SubnetId": w.subnets[0], "PrivateIpAddresses": []any{map[string]any{"PrivateIpAddress": "10.0.0.4"}, map[string]any{"PrivateIpAddress": "10.0.0.5"}}, "Ipv4Prefixes": []any{map[string]any{"Ipv4Prefix": "10.0.0.16/28"}}}}}),
		one("m5.large", map[string]any{"Tags": tag("karpenter.sh/nodepool", "default", "eks:eks-cluster-name", "other")}),
		one("m5.large", map[string]any{"Tags": tag("eks:kubernetes-node-pool-name", "system", "kubernetes.io/cluster/prod", "owned")}),
		one("m5.large", map[string]any{"InstanceLifecycle": "spot"}),
		one("m5.large", map[string]any{"Placement": map[string]any{"Tenancy": "host"}}),
		one("p4d.24xlarge", map[string]any{"CpuOptions": map[string]any{"CoreCount": 48, "ThreadsPerCore": 2}}),
	}}}}))
	w.Instead("ec2:DescribeCapacityReservations", moto.Answer(t, "ec2", "DescribeCapacityReservations", map[string]any{"CapacityReservations": []any{
		map[string]any{"InstanceType": "m7g.xlarge", "AvailableInstanceCount": 1}, map[string]any{"InstanceType": "m7g.xlarge", "AvailableInstanceCount": 0}}}))
}

// moto runs real instances with the tags of a managed node group, which a rebuild keeps.
func TestANodeOfAGroupIsInUse(t *testing.T) {
	t.Parallel()
	w := start(t)
	if _, err := ec2.NewFromConfig(w.config).RunInstances(t.Context(), &ec2.RunInstancesInput{
		ImageId: aws.String("ami-12c6146b"), InstanceType: ec2types.InstanceTypeM7gLarge, MinCount: aws.Int32(3), MaxCount: aws.Int32(3), SubnetId: aws.String(w.subnets[0]),
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeInstance, Tags: []ec2types.Tag{
			{Key: aws.String("eks:cluster-name"), Value: aws.String("prod")}, {Key: aws.String("kubernetes.io/cluster/prod"), Value: aws.String("owned")}}}},
	}); err != nil {
		t.Fatal(err)
	}
	got := w.room(t)
	i := slices.IndexFunc(got.Subnets, func(s fit.Subnet) bool { return s.ID == w.subnets[0] })
	if got.VCPUs[0].Used != 6 || got.Subnets[i].Free != 11-3 || len(got.Unknown) > 0 {
		t.Errorf("quotas %+v, subnets %+v, unknown %+v", got.VCPUs, got.Subnets, got.Unknown)
	}
}

// A lost has the readings of an operation that fails.
type lost struct {
	operation string
	readings  []string // names
	adds      bool     // of the first
	empty     func(fit.Room) bool
}

var losses = []lost{
	{"servicequotas:ListServiceQuotas", []string{"EC2 vCPU quotas in eu-west-1"}, false, func(r fit.Room) bool { return len(r.VCPUs) == 0 }},
	{"ec2:DescribeInstances", []string{"vCPUs in use in eu-west-1", "addresses of Karpenter nodes in eu-west-1"}, false, func(r fit.Room) bool { return r.VCPUs[0].Used == 0 }},
	{"ec2:DescribeCapacityReservations", []string{"capacity reservations in eu-west-1"}, false, func(r fit.Room) bool { return len(r.VCPUs) > 0 }},
	{"ec2:DescribeInstanceTypes", []string{"instance types in eu-west-1", "instance types of NodePool default", "instance types of node group base"}, true, noShapes},
	{"ec2:DescribeInstanceTypeOfferings", []string{"instance types in eu-west-1", "instance types of NodePool default", "instance types of node group base"}, true, noShapes},
	{"ec2:DescribeSubnets", []string{"free addresses of subnets in eu-west-1", "instance types of NodePool default", "instance types of node group base"}, false,
		func(r fit.Room) bool { return len(r.Subnets) == 0 && noShapes(r) }},
	{"eks:ListNodegroups", []string{"managed node groups of prod in eu-west-1"}, true, func(r fit.Room) bool { return len(r.Groups) == 0 }},
	{"eks:DescribeNodegroup", []string{"managed node group base"}, true, func(r fit.Room) bool { return len(r.Groups) == 0 }},
}

func noShapes(r fit.Room) bool { return len(r.Pools[0].Shapes) == 0 }

// check compares the unknown readings of a room with the readings of a failed operation.
func (l lost) check(t *testing.T, got fit.Room, why string) {
	t.Helper()
	var names []string
	for _, r := range got.Unknown {
		names = append(names, r.Name)
	}
	if !slices.Equal(names, l.readings) {
		t.Fatalf("unknown %q, want %q", names, l.readings)
	}
	if first := got.Unknown[0]; first.Adds != l.adds || !strings.HasPrefix(first.Why, l.operation+": ") || !strings.Contains(first.Why, why) {
		t.Errorf("reading %+v, want %q", first, why)
	}
	if !l.empty(got) {
		t.Errorf("the values of a failed call: %+v", got)
	}
}

func TestACallThatFailsIsAnUnknownReading(t *testing.T) {
	t.Parallel()
	w := start(t)
	faults := map[string]struct {
		fault func(service string) (status int, code string)
		why   func(lost) string
	}{
		"denied": {func(service string) (int, string) {
			if service == "ec2" {
				return http.StatusForbidden, "UnauthorizedOperation"
			}
			return http.StatusBadRequest, "AccessDeniedException"
		}, func(l lost) string { return ". Allow the action " + l.operation }},
		"throttled": {func(string) (int, string) { return http.StatusServiceUnavailable, "RequestLimitExceeded" }, func(lost) string { return "RequestLimitExceeded: too fast" }},
	}
	for name, f := range faults {
		for _, l := range losses {
			service, _, _ := strings.Cut(l.operation, ":")
			status, code := f.fault(service)
			w.InsteadFor(l.operation, 1, gateway.Fault(status, code, "too fast"))
			t.Run(name+" "+l.operation, func(t *testing.T) {
				l.check(t, w.room(t), f.why(l))
			})
			w.again(t, l.operation)
		}
	}
}

// again makes the usual service answer an operation.
func (w world) again(t *testing.T, operation string) {
	t.Helper()
	switch operation {
	case "servicequotas:ListServiceQuotas":
		w.Instead(operation, moto.Answer(t, "service-quotas", "ListServiceQuotas", quotas))
	case "ec2:DescribeCapacityReservations":
		w.Instead(operation, moto.Answer(t, "ec2", "DescribeCapacityReservations", map[string]any{"CapacityReservations": []any{}}))
	case "ec2:DescribeInstanceTypes", "ec2:DescribeInstanceTypeOfferings":
		w.Intercept(operation, fewer(selected[operation]))
	default:
		w.Instead(operation, nil)
	}
}

// A response with a further page is not complete. Each list is empty in the first
// page, and a call for the second fails.
func TestAListWithoutItsLastPageIsUnknown(t *testing.T) {
	t.Parallel()
	w := start(t)
	token := map[string]string{"eks:ListNodegroups": "nextToken"}
	for _, l := range losses {
		if l.operation == "eks:DescribeNodegroup" {
			continue // it has no pages
		}
		service, operation, _ := strings.Cut(l.operation, ":")
		name := map[string]string{"servicequotas": "service-quotas"}[service]
		if name == "" {
			name = service
		}
		key := token[l.operation]
		if key == "" {
			key = "NextToken"
		}
		first := moto.Answer(t, name, operation, map[string]any{key: "more"})
		var calls atomic.Int32
		w.Instead(l.operation, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				first.ServeHTTP(rw, r)
				return
			}
			gateway.Fault(http.StatusBadRequest, "InvalidNextToken", "expired").ServeHTTP(rw, r)
		}))
		t.Run(l.operation, func(t *testing.T) {
			l.check(t, w.room(t), "InvalidNextToken: expired")
		})
		w.again(t, l.operation)
	}
}

func TestAllPagesAreRead(t *testing.T) {
	t.Parallel()
	w := start(t)
	for i := range 100 { // EKS lists 100 in a page
		w.group(t, fmt.Sprintf("more-%d", i))
	}
	first := moto.Answer(t, "service-quotas", "ListServiceQuotas", map[string]any{"NextToken": "more",
		"Quotas": []any{map[string]any{"QuotaCode": "L-DB2E81BA", "QuotaName": "Running On-Demand G and VT instances", "Value": 8}}})
	last := moto.Answer(t, "service-quotas", "ListServiceQuotas", quotas)
	var calls atomic.Int32
	w.Instead("servicequotas:ListServiceQuotas", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			first.ServeHTTP(rw, r)
			return
		}
		last.ServeHTTP(rw, r)
	}))
	got := w.room(t)
	if len(got.Groups) != 101 || len(got.VCPUs) != 3 || len(got.Unknown) > 0 {
		t.Errorf("%d groups, quotas %+v, unknown %+v", len(got.Groups), got.VCPUs, got.Unknown)
	}
	if g4 := shape(t, got.Pools[0].Shapes, "g4dn.xlarge"); g4.Capacity["nvidia.com/gpu"] != 1 || len(g4.Offers) != 2 {
		t.Errorf("g4dn.xlarge %+v", g4)
	}
}

func TestAnIncompleteResponseIsUnknown(t *testing.T) {
	t.Parallel()
	w := start(t)
	t.Run("a quota without a value", func(t *testing.T) {
		w.Instead("servicequotas:ListServiceQuotas", moto.Answer(t, "service-quotas", "ListServiceQuotas", map[string]any{"Quotas": []any{
			map[string]any{"QuotaCode": "L-1216C47A", "QuotaName": standard[11:], "ErrorReason": map[string]any{"ErrorCode": "DEPENDENCY_THROTTLING_ERROR", "ErrorMessage": "too fast"}},
			map[string]any{"QuotaCode": "L-34B43A08", "QuotaName": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "Value": 5}}}))
		got := w.room(t)
		want := fit.Reading{Name: "EC2 vCPU quota " + standard, Adds: true, Why: "servicequotas:ListServiceQuotas: the response has no value: DEPENDENCY_THROTTLING_ERROR: too fast"}
		if !slices.Contains(got.Unknown, want) || len(got.VCPUs) != 1 {
			t.Errorf("unknown %+v, quotas %+v", got.Unknown, got.VCPUs)
		}
		for _, o := range shape(t, got.Pools[0].Shapes, "m5.large").Offers {
			if o.CapacityType != "spot" {
				t.Errorf("%+v has an unknown quota", o)
			}
		}
	})
	t.Run("quotas without any value", func(t *testing.T) {
		w.Instead("servicequotas:ListServiceQuotas", moto.Answer(t, "service-quotas", "ListServiceQuotas", map[string]any{"Quotas": []any{}}))
		if got := w.room(t); len(got.Unknown) != 1 || got.Unknown[0].Adds || got.Unknown[0].Name != "EC2 vCPU quotas in eu-west-1" {
			t.Errorf("unknown %+v", got.Unknown)
		}
		w.again(t, "servicequotas:ListServiceQuotas")
	})
	t.Run("a subnet that EC2 does not return", func(t *testing.T) {
		read := w.roomOf(t, cluster{class(t, "{}", append([]string{"subnet-gone"}, w.subnets...)...), map[string]string{}})
		want := fit.Reading{Name: "free addresses of subnet-gone", Why: "ec2:DescribeSubnets: the response does not contain the subnet"}
		if !slices.Equal(read.Unknown, []fit.Reading{want}) || len(read.Subnets) != 2 {
			t.Errorf("unknown %+v, subnets %+v", read.Unknown, read.Subnets)
		}
	})
	t.Run("an instance of an unknown type", func(t *testing.T) {
		w.Instead("ec2:DescribeInstances", moto.Answer(t, "ec2", "DescribeInstances", map[string]any{"Reservations": []any{map[string]any{"Instances": []any{map[string]any{"InstanceType": "m99.large"}}}}}))
		if got := w.room(t); len(got.Unknown) != 1 || got.Unknown[0].Name != "vCPUs in use in eu-west-1" || !strings.HasSuffix(got.Unknown[0].Why, ": m99.large") {
			t.Errorf("unknown %+v", got.Unknown)
		}
		w.again(t, "ec2:DescribeInstances")
	})
	t.Run("a zone without the instance type", func(t *testing.T) {
		w.Instead("ec2:DescribeInstanceTypeOfferings", moto.Answer(t, "ec2", "DescribeInstanceTypeOfferings", map[string]any{
			"InstanceTypeOfferings": []any{map[string]any{"InstanceType": "m5.large", "Location": moto.Region + "b"}}}))
		got := w.room(t)
		if all := got.Pools[0].Shapes; len(all) != 1 || len(all[0].Offers) != 2 || all[0].Offers[0].Zone != moto.Region+"b" || all[0].Offers[1].Zone != moto.Region+"b" {
			t.Errorf("instance types %+v", all)
		}
		w.again(t, "ec2:DescribeInstanceTypeOfferings")
	})
	t.Run("a NodePool without a class", func(t *testing.T) {
		room := fit.Room{Pools: []fit.Pool{{Name: "none"}, {Name: "auto", Shapes: []fit.Shape{{Name: "m5.large", Capacity: fit.Resources{fit.CPU: 2000},
			Offers: []fit.Offer{{Zone: "a", CapacityType: "on-demand"}, {Zone: "a", CapacityType: "spot"}}}, {Name: "g4dn.xlarge", Offers: []fit.Offer{{Zone: "a", CapacityType: "on-demand"}}}}}}}
		got := w.reader().Room(t.Context(), room, cluster{env: map[string]string{}})
		why := "the NodePool has no EC2NodeClass"
		want := []fit.Reading{{Name: "instance types of NodePool none", Adds: true, Why: why}, {Name: "addresses of NodePool auto", Why: why}}
		spot := "L-34B43A08 All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"
		m5 := got.Pools[1].Shapes[0]
		if !slices.Equal(got.Unknown, want) || m5.VCPUs != 2 || !reflect.DeepEqual(m5.Offers, []fit.Offer{{Zone: "a", CapacityType: "on-demand", Quota: standard}, {Zone: "a", CapacityType: "spot", Quota: spot}}) {
			t.Errorf("pools %+v, unknown %+v", got.Pools, got.Unknown)
		}
		if g4 := got.Pools[1].Shapes[1]; len(g4.Offers) > 0 {
			t.Errorf("%+v has no quota in the account", g4)
		}
	})
	t.Run("a node group with a launch template", func(t *testing.T) {
		described := func(more map[string]any) http.Handler {
			for key, value := range map[string]any{"nodegroupName": "base", "subnets": w.subnets, "status": "ACTIVE", "scalingConfig": map[string]any{"desiredSize": 1, "maxSize": 3}} {
				if more[key] == nil {
					more[key] = value
				}
			}
			return moto.Answer(t, "eks", "DescribeNodegroup", map[string]any{"nodegroup": more})
		}
		for _, of := range []struct {
			more map[string]any
			why  string
		}{
			{map[string]any{"launchTemplate": map[string]any{"id": "lt-1"}}, "its launch template sets them, and gitlatch does not read launch templates"},
			{map[string]any{"amiType": "WINDOWS_CORE_2022_x86_64", "instanceTypes": []string{"m5.large"}}, "its nodes run Windows"},
			{map[string]any{"instanceTypes": []string{"m99.large"}}, "EC2 does not list m99.large in the zones of its subnets"},
			{map[string]any{"scalingConfig": map[string]any{"desiredSize": 3, "maxSize": 3}}, ""},
			{map[string]any{"status": "DELETING"}, ""},
		} {
			w.Instead("eks:DescribeNodegroup", described(of.more))
			got := w.room(t)
			want := []fit.Reading{{Name: "instance types of node group base", Adds: true, Why: of.why}}
			if of.why == "" {
				want = nil
			}
			if !slices.Equal(got.Unknown, want) {
				t.Errorf("unknown %+v, want %+v", got.Unknown, want)
			}
		}
	})
	t.Run("a node group that is gone", func(t *testing.T) {
		w.Instead("eks:DescribeNodegroup", gateway.Fault(http.StatusNotFound, "ResourceNotFoundException", "no"))
		if got := w.room(t); len(got.Unknown)+len(got.Groups) > 0 {
			t.Errorf("unknown %+v, groups %+v", got.Unknown, got.Groups)
		}
	})
}

// A standby in another Region has its own quotas, and may have no cluster yet.
func TestAStandbyIsReadInItsRegion(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.config.Region = "eu-central-1"
	w.Instead("eks:ListNodegroups", gateway.Fault(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: prod."))
	got := w.room(t)
	if got.VCPUs[0].Limit != 32 || len(got.Groups) > 0 {
		t.Errorf("quotas %+v, groups %+v", got.VCPUs, got.Groups)
	}
	if first := got.Unknown[0]; first.Name != "managed node groups of prod in eu-central-1" || !strings.Contains(first.Why, "ResourceNotFoundException") {
		t.Errorf("unknown %+v", got.Unknown)
	}
	for _, c := range w.Calls() {
		if strings.Contains(string(c.Body), moto.Region) {
			t.Errorf("%s asks for %s", c.Operation, c.Body)
		}
	}
}

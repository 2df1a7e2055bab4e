package account

import (
	"context"
	"fmt"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas/types"

	"github.com/gitlatch/gitlatch/internal/fit"
)

// A quota is a quota of EC2 with its code.
type quota struct {
	fit.VCPUs
	code string // "L-1216C47A"
}

const (
	onDemand = "on-demand"
	spot     = "spot"
)

// capacityTypes are the capacity types that Karpenter starts, in its order.
var capacityTypes = []string{spot, onDemand}

// codes are the quotas of instances by the letters of their families. EC2 has no quota of
// vCPUs for a family that is missing here: its instances need dedicated hosts.
var codes = map[string]map[string]string{
	"dl":  {onDemand: "L-6E869C2A", spot: "L-85EED4F7"},
	"f":   {onDemand: "L-74FC7D96", spot: "L-88CF9481"},
	"g":   graphics,
	"gr":  graphics,
	"vt":  graphics,
	"hpc": {onDemand: "L-F7808C92"},
	"inf": {onDemand: "L-1945791B", spot: "L-B5D1601B"},
	"p2":  {onDemand: "L-417A185B", spot: "L-7212CCBC"},
	"p3":  {onDemand: "L-417A185B", spot: "L-7212CCBC"},
	"p4":  {onDemand: "L-417A185B", spot: "L-7212CCBC"},
	"p5":  {onDemand: "L-417A185B", spot: "L-C4BD4855"},
	"p":   {onDemand: "L-417A185B"},
	"trn": {onDemand: "L-2C3B7624", spot: "L-6B0D517C"},
	"u":   {onDemand: "L-43DA4232"},
	"x":   {onDemand: "L-7295265B", spot: "L-E3A00192"},
	"a":   standard, "c": standard, "d": standard, "h": standard, "i": standard, "im": standard, "is": standard,
	"m": standard, "r": standard, "t": standard, "z": standard,
}

var (
	standard = map[string]string{onDemand: "L-1216C47A", spot: "L-34B43A08"}
	graphics = map[string]string{onDemand: "L-DB2E81BA", spot: "L-3819A6DF"}
)

// family has the letters and the generation of an instance type: "p" and "4" of
// p4d.24xlarge, "u" and "1" of u-6tb1.metal.
var family = regexp.MustCompile(`^([a-z]+)(?:-[0-9]+tb)?([0-9]+)`)

// code returns the code of the quota that an instance counts toward, or "".
func code(instanceType, capacityType string) string {
	of := family.FindStringSubmatch(instanceType)
	if of == nil {
		return ""
	}
	if by, has := codes[of[1]+of[2]]; has {
		return by[capacityType]
	}
	return codes[of[1]][capacityType]
}

const listQuotas = "servicequotas:ListServiceQuotas"

// quotas returns the vCPU quotas of EC2. A quota that Service Quotas could not read is
// missing in the list, and a reading names it.
func (r Reader) quotas(ctx context.Context) (all []quota, failed []fit.Reading) {
	wanted := map[string]bool{}
	for _, by := range codes {
		for _, code := range by {
			wanted[code] = true
		}
	}
	pages := servicequotas.NewListServiceQuotasPaginator(r.Quotas, &servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("ec2")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, []fit.Reading{unread("EC2 vCPU quotas in "+r.Region, listQuotas, err)}
		}
		for _, q := range page.Quotas {
			code := aws.ToString(q.QuotaCode)
			name := code + " " + aws.ToString(q.QuotaName)
			switch {
			case !wanted[code]:
			case q.Value == nil:
				failed = append(failed, fit.Reading{Name: "EC2 vCPU quota " + name, Adds: true, Why: listQuotas + ": the response has no value" + because(q.ErrorReason)})
			default:
				all = append(all, quota{code: code, VCPUs: fit.VCPUs{Name: name, Limit: int64(*q.Value)}})
			}
		}
	}
	if len(all) == 0 { // without quotas, instances of every family count
		return nil, []fit.Reading{{Name: "EC2 vCPU quotas in " + r.Region, Why: listQuotas + ": the response has no value for any vCPU quota"}}
	}
	return all, failed
}

// because returns the reason of Service Quotas for a missing value, after a colon.
func because(reason *types.ErrorReason) string {
	if reason == nil {
		return ""
	}
	return fmt.Sprintf(": %s: %s", reason.ErrorCode, aws.ToString(reason.ErrorMessage))
}

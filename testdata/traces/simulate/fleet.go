package simulate

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// The stories, as the trace names them. Every story except the last two has an
// autoscaler.
const (
	Web     = "web"     // follows the hours of the day
	Tiny    = "tiny"    // a few pods, quiet
	Surge   = "surge"   // three pods, and ten thousand for an evening
	Ended   = "ended"   // was large until a campaign ended in the warm-up
	Batch   = "batch"   // half an hour a day, never at the same minute
	Queue   = "queue"   // consumes a queue that fills by day
	Sleeper = "sleeper" // consumes a queue that is empty at night, without pods then
	Fixed   = "fixed"   // has the pods of its manifest
	Node    = "node"    // one pod on each node
)

// consumers are web workloads with a peak in the evening, and businesses in the working
// hours. Their sizes are drawn at random, so that no size is chosen to be within or next
// to a level.
var (
	consumers = map[string][]string{
		"shop":     {"web", "api", "cart", "catalog", "pricing", "reviews", "basket", "wishlist", "images", "recommend"},
		"search":   {"query", "suggest", "ranking", "facets", "spelling", "gateway"},
		"accounts": {"login", "profile", "session", "consent", "mfa", "notify"},
		"payments": {"checkout", "authorise", "ledger", "refunds", "wallet", "fraud"},
		"media":    {"player", "thumbs", "origin", "uploads", "captions", "playlists", "live"},
		"ads":      {"bidder", "serving", "pixel", "budget", "creative", "audience"},
		"content":  {"pages", "articles", "comments", "feeds", "tags", "polls"},
		"mobile":   {"bff-ios", "bff-android", "push", "config", "deeplink", "telemetry"},
	}
	businesses = map[string][]string{
		"logistics": {"tracking", "quotes", "labels", "routes", "depots", "carriers"},
		"partners":  {"api", "webhooks", "feed", "oauth", "reports", "catalogue"},
	}
	stateful = map[string][]string{
		"search": {"index"}, "media": {"segments"}, "accounts": {"store"}, "logistics": {"ledger"},
	}
	tiny = map[string][]string{
		"platform": {"flags", "audit", "dns-sync", "certificates", "status", "chatops", "costs", "quota", "docs",
			"registry-ui", "sandbox", "releases", "inventory", "keyring"},
	}
)

// plan is the planned behavior of one workload.
type plan struct {
	traces.Workload
	load  load
	lag   time.Duration // from the creation of a pod to its readiness
	out   bool          // it is behind the edge that fails
	blind window        // time without metrics
	roll  []rollout
}

// fleet draws the plans of all workloads. Each workload has a separate random source, so
// that a new workload does not change the others.
func fleet(seed uint64) []plan {
	var all []plan
	add := func(groups map[string][]string, kind workload.Kind, make func(id workload.ID, r *rand.Rand) plan) {
		for namespace, names := range groups {
			for _, name := range names {
				id := workload.ID{Namespace: namespace, Kind: kind, Name: name}
				p := make(id, source(seed, id.String()+" plan"))
				p.ID = id
				all = append(all, p)
			}
		}
	}
	one := func(id string) map[string][]string {
		at, err := workload.ParseID(id)
		if err != nil {
			panic(err) // a name of this file
		}
		return map[string][]string{at.Namespace: {at.Name}}
	}
	add(consumers, workload.Deployment, webTier(20))
	add(businesses, workload.Deployment, webTier(14))
	add(stateful, workload.StatefulSet, statefulTier)
	add(tiny, workload.Deployment, tinyTier)
	add(one("tickets/deployment/seats"), workload.Deployment, surgeTier)
	add(one("content/deployment/campaign"), workload.Deployment, endedTier)
	add(one("data/deployment/nightly-import"), workload.Deployment, batchTier(2))
	add(one("data/deployment/price-refresh"), workload.Deployment, batchTier(11))
	add(one("data/deployment/mail-worker"), workload.Deployment, queueTier)
	add(one("data/deployment/invoice-worker"), workload.Deployment, queueTier)
	add(one("media/deployment/encode-worker"), workload.Deployment, queueTier)
	add(one("data/deployment/report-export"), workload.Deployment, sleeperTier)
	add(one("platform/deployment/legacy-billing"), workload.Deployment, fixedTier(Fixed, 7))
	add(one("kube-system/daemonset/node-agent"), workload.DaemonSet, fixedTier(Node, 240))
	return all
}

func webTier(hour float64) func(workload.ID, *rand.Rand) plan {
	return func(id workload.ID, r *rand.Rand) plan {
		peak, swing := logUniform(r, 12, 1200), logUniform(r, 3, 10)
		p := plan{load: daily(r, peak, swing, hour+2*(r.Float64()-0.5)), lag: seconds(r, 45, 120)}
		p.Story, p.Driver, p.Target = Web, workload.DrivenByHPA, 0.5+0.05*float64(r.IntN(6))
		p.Min, p.Max = int32(max(2, peak/40)), tidy(2*peak)
		p.Manifest = p.Min
		p.out = behindEdge[id.Namespace]
		p.roll = deploys(id, r)
		if id == bidder {
			p.blind = metricsGone
		}
		return p
	}
}

func statefulTier(_ workload.ID, r *rand.Rand) plan {
	peak := logUniform(r, 9, 60)
	p := plan{load: daily(r, peak, logUniform(r, 1.5, 4), 19), lag: seconds(r, 90, 240)}
	p.Story, p.Driver, p.Target = Web, workload.DrivenByHPA, 0.6
	p.Min, p.Max, p.Manifest = 3, tidy(2*peak), 3
	return p
}

func tinyTier(_ workload.ID, r *rand.Rand) plan {
	p := plan{load: daily(r, 0.6+3*r.Float64(), 1+r.Float64(), 15), lag: seconds(r, 20, 60)}
	p.Story, p.Driver, p.Target = Tiny, workload.DrivenByHPA, 0.7
	p.Min, p.Max = int32(1+r.IntN(2)), 10
	p.Manifest = p.Min
	return p
}

func surgeTier(_ workload.ID, _ *rand.Rand) plan {
	p := plan{load: saleOf(10_000), lag: 8 * time.Minute}
	p.Story, p.Driver, p.Min, p.Max, p.Manifest = Surge, workload.DrivenByHPA, 3, 10_000, 3
	return p
}

func endedTier(_ workload.ID, r *rand.Rand) plan {
	p := plan{load: until(daily(r, 40, 4, 20), campaignEnd, 8), lag: seconds(r, 45, 120)}
	p.Story, p.Driver, p.Target = Ended, workload.DrivenByHPA, 0.7
	p.Min, p.Max, p.Manifest = 5, 600, 5
	return p
}

func batchTier(hour float64) func(workload.ID, *rand.Rand) plan {
	return func(_ workload.ID, r *rand.Rand) plan {
		p := plan{load: spike(r, logUniform(r, 30, 120), hour), lag: seconds(r, 30, 60)}
		p.Story, p.Driver, p.Target = Batch, workload.DrivenByHPA, 0.8
		p.Min, p.Max, p.Manifest = 1, 200, 1
		return p
	}
}

func queueTier(_ workload.ID, r *rand.Rand) plan {
	peak := logUniform(r, 10, 80)
	p := plan{load: daily(r, peak, logUniform(r, 4, 10), 16), lag: seconds(r, 30, 60)}
	p.Story, p.Driver, p.Min, p.Max, p.Manifest = Queue, workload.DrivenByKEDA, 1, tidy(2*peak), 1
	return p
}

func sleeperTier(_ workload.ID, r *rand.Rand) plan {
	p := plan{load: working(daily(r, 24, 3, 14), 7.5, 19), lag: seconds(r, 30, 60)}
	p.Story, p.Driver, p.Min, p.Max, p.Manifest = Sleeper, workload.DrivenByKEDA, 0, 50, 1
	return p
}

func fixedTier(story string, pods int32) func(workload.ID, *rand.Rand) plan {
	return func(workload.ID, *rand.Rand) plan {
		p := plan{load: func(time.Duration) float64 { return float64(pods) }}
		p.Story, p.Manifest = story, pods
		return p
	}
}

// logUniform draws a number from low to high, uniformly in its logarithm.
func logUniform(r *rand.Rand, low, high float64) float64 {
	return low * math.Exp(r.Float64()*math.Log(high/low))
}

func seconds(r *rand.Rand, low, high int) time.Duration {
	return time.Duration(low+r.IntN(high-low+1)) * time.Second
}

// tidy rounds up to one digit, because users write such limits for an autoscaler.
func tidy(x float64) int32 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	return int32(math.Ceil(x/power) * power)
}

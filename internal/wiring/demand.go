package wiring

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube/demand"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Sampler opens the cluster and the sources of its workloads' demand.
func (o *Opener) Sampler(ctx context.Context) (tick.Sampler, error) {
	cluster, err := o.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	return o.measured(ctx, cluster), nil
}

// measured returns a sampler that adds the configured demand to the samples of a cluster.
func (o *Opener) measured(ctx context.Context, cluster tick.Sampler) tick.Sampler {
	return demand.Measured(cluster, o.sources(ctx)...)
}

// sources returns the sources of the configured demands, one for each server and region.
// A source that cannot be opened returns the error each time it is queried: a tick does
// not fail because of it.
func (o *Opener) sources(ctx context.Context) (all []demand.Source) {
	type server struct {
		url   string
		token config.Secret
	}
	servers, regions := map[server]demand.Prometheus{}, map[string]demand.CloudWatch{}
	for _, d := range o.Config.Demand {
		if p := d.Prometheus; p.Query != "" {
			at := server{p.URL, p.Token}
			if _, known := servers[at]; !known {
				servers[at] = demand.Prometheus{URL: p.URL, Queries: map[workload.ID]string{}}
			}
			servers[at].Queries[d.Workload] = p.Query
			continue
		}
		c := d.CloudWatch
		if _, known := regions[c.Region]; !known {
			regions[c.Region] = demand.CloudWatch{Region: c.Region, Metrics: map[workload.ID]demand.Metric{}}
		}
		regions[c.Region].Metrics[d.Workload] = demand.Metric{
			Namespace: c.Namespace, Name: c.Metric, Dimensions: c.Dimensions, Statistic: c.Statistic,
		}
	}
	for at, p := range servers {
		token, err := o.reveal(ctx, "demand.prometheus.token", at.token)
		if err != nil {
			all = append(all, demand.Closed(p.Name(), err))
			continue
		}
		p.Token = token
		all = append(all, p)
	}
	for _, region := range slices.Sorted(maps.Keys(regions)) {
		c := regions[region]
		own, err := o.In(ctx, "demand.cloudwatch.region", region)
		if err != nil {
			all = append(all, demand.Closed(c.Name(), err))
			continue
		}
		c.Region, c.Client = own.Region, cloudwatch.NewFromConfig(own)
		all = append(all, c)
	}
	return all
}

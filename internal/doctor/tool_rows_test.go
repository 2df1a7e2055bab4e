package doctor_test

// A row is an object of a real tool that applies one workload. An autoscaler writes its
// replicas, and then a commit changes its level. doctor reports before that commit
// whether the replicas survive it; the audit log shows it afterwards.
type row struct {
	kind string // of the workload; "" is Deployment
	// spec is the spec of the object, with NAME for the row's name. options are the sync
	// options. meta are annotations of the workload.
	spec, options, meta string
	// why is the reason why doctor finds no rule even though the tool keeps the
	// replicas; "" if doctor finds the rule.
	why string
	// idle is true if the tool never applies the commit.
	idle bool
	// short is true for the rows that every run includes.
	short bool
}

const (
	rule  = "ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]"
	kept  = "RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true"
	plain = "of jq, doctor knows plain paths alone"
)

func ignoring(rule string) string { return "ignoreDifferences: [" + rule + "]" }

var argoRows = map[string]row{
	"none":                 {short: true},
	"respected":            {spec: rule, options: kept, short: true},
	"respected-all":        {spec: rule, options: "RespectIgnoreDifferences=true"},
	"not-respected":        {spec: rule, short: true},
	"respect-alone":        {options: kept},
	"without-group":        {spec: ignoring("{kind: Deployment, jsonPointers: [/spec/replicas]}"), options: kept},
	"annotated":            {spec: rule, meta: "argocd.argoproj.io/sync-options: RespectIgnoreDifferences=true"},
	"jq":                   {spec: ignoring("{group: apps, kind: Deployment, jqPathExpressions: [.spec.replicas]}"), options: kept},
	"jq-quoted":            {spec: ignoring(`{group: apps, kind: Deployment, jqPathExpressions: ['.spec["replicas"]']}`), options: kept},
	"jq-spec":              {spec: ignoring("{group: apps, kind: Deployment, jqPathExpressions: [.spec]}"), options: kept},
	"jq-piped":             {spec: ignoring("{group: apps, kind: Deployment, jqPathExpressions: ['.spec | .replicas']}"), options: kept, why: plain},
	"jq-other":             {spec: ignoring("{group: apps, kind: Deployment, jqPathExpressions: [.spec.paused]}"), options: kept},
	"pointer-spec":         {spec: ignoring("{group: apps, kind: Deployment, jsonPointers: [/spec]}"), options: kept},
	"pointer-other":        {spec: ignoring("{group: apps, kind: Deployment, jsonPointers: [/spec/rep]}"), options: kept},
	"any-kind":             {spec: ignoring("{group: apps, kind: '*', jsonPointers: [/spec/replicas]}"), options: kept},
	"any-group":            {spec: ignoring("{group: '*', kind: Deployment, jsonPointers: [/spec/replicas]}"), options: kept},
	"braces":               {spec: ignoring("{group: apps, kind: '{Deployment,StatefulSet}', jsonPointers: [/spec/replicas]}"), options: kept},
	"other-kind":           {spec: ignoring("{group: apps, kind: StatefulSet, jsonPointers: [/spec/replicas]}"), options: kept},
	"other-group":          {spec: ignoring("{group: batch, kind: Deployment, jsonPointers: [/spec/replicas]}"), options: kept},
	"its-name":             {spec: ignoring("{group: apps, kind: Deployment, name: web, jsonPointers: [/spec/replicas]}"), options: kept},
	"other-name":           {spec: ignoring("{group: apps, kind: Deployment, name: api, jsonPointers: [/spec/replicas]}"), options: kept},
	"its-namespace":        {spec: ignoring("{group: apps, kind: Deployment, namespace: its-namespace, jsonPointers: [/spec/replicas]}"), options: kept},
	"other-namespace":      {spec: ignoring("{group: apps, kind: Deployment, namespace: none, jsonPointers: [/spec/replicas]}"), options: kept},
	"managers":             {spec: ignoring("{group: apps, kind: Deployment, managedFieldsManagers: [kube-controller-manager]}"), options: kept, short: true},
	"other-managers":       {spec: ignoring("{group: apps, kind: Deployment, managedFieldsManagers: [keda]}"), options: kept},
	"system":               {kind: "StatefulSet", options: kept, short: true},
	"system-not-respected": {kind: "StatefulSet"},
	"server-side":          {spec: rule, options: kept + ", ServerSideApply=true"},
	"server-side-without":  {options: "ServerSideApply=true"},
	"replaced":             {spec: rule, options: kept + ", Replace=true"},
	"replaced-without":     {options: "Replace=true"},
	"forced":               {spec: rule, options: kept + ", Force=true"},
	"forced-by-annotation": {spec: rule, options: kept, meta: "argocd.argoproj.io/sync-options: Force=true"},
	"of-two-sources":       {spec: "sources: [{repoURL: REPOSITORY, targetRevision: main, path: rows/NAME}, {repoURL: REPOSITORY, targetRevision: main, path: nothing}], " + rule, options: kept},
	"at-head":              {spec: "source: {repoURL: REPOSITORY, targetRevision: HEAD, path: rows/NAME}, " + rule, options: kept},
	"at-a-full-name":       {spec: "source: {repoURL: REPOSITORY, targetRevision: refs/heads/main, path: rows/NAME}, " + rule, options: kept},
	"at-another-branch":    {spec: "source: {repoURL: REPOSITORY, targetRevision: other, path: rows/NAME}, " + rule, options: kept, idle: true, why: "the commits of the site never reach it"},
	"by-name":              {spec: "destination: {name: in-cluster}, " + rule, options: kept},
}

var fluxRows = map[string]row{
	"flux-none":          {},
	"flux-ignored":       {spec: "ignore: [{paths: [/spec/replicas], target: {group: apps, kind: Deployment}}]"},
	"flux-untargeted":    {spec: "ignore: [{paths: [/spec/replicas]}]"},
	"flux-other-kind":    {spec: "ignore: [{paths: [/spec/replicas], target: {kind: StatefulSet}}]"},
	"flux-other-path":    {spec: "ignore: [{paths: [/spec/paused], target: {kind: Deployment}}]"},
	"flux-pattern":       {spec: "ignore: [{paths: [/spec/replicas], target: {kind: 'Deploy.*'}}]"},
	"flux-other-name":    {spec: "ignore: [{paths: [/spec/replicas], target: {kind: Deployment, name: api}}]"},
	"flux-merged":        {spec: "ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]", meta: "kustomize.toolkit.fluxcd.io/ssa: Merge"},
	"flux-merged-alone":  {meta: "kustomize.toolkit.fluxcd.io/ssa: Merge"},
	"flux-only-once":     {spec: "ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]", meta: "kustomize.toolkit.fluxcd.io/ssa: IfNotPresent", why: "nothing else of it is updated either"},
	"flux-its-namespace": {spec: "ignore: [{paths: [/spec/replicas], target: {kind: Deployment, namespace: flux-its-namespace}}]"},
}

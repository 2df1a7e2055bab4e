package admission

import _ "embed"

// policyText is the file with the policy. It has a slot for each part that depends on a
// Policy.
//
//go:embed policy.tmpl
var policyText string

// imagesVariables and imagesMutation are the parts that replace images. Lists of containers
// merge by name only in the kinds of Kubernetes, so they leave other kinds alone.
var (
	//go:embed images_variables.tmpl
	imagesVariables string
	//go:embed images_mutation.tmpl
	imagesMutation string
)

const ruleText = `    - apiGroups: [%q]
      apiVersions: [%q]
      operations: [CREATE]
      resources: [%q]
`

const statedText = `variables.path == '%s'
      ? %s
      : `

const raiseText = `: variables.path == '%s'
        ? Object{metadata: Object.metadata{annotations: variables.mark}, %s}
        `

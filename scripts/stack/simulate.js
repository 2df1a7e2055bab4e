// Decides requests by IAM policies, as IAM would.
//
//   NODE_PATH=.../node_modules node scripts/stack/simulate.js <requests.json
//
// Takes [{name, principal, action, resource, account, context, policies,
// resourcePolicy?, endpointPolicy?}] and prints one JSON object a request: name, decision
// (Allowed, ImplicitlyDenied, ExplicitlyDenied) or, where the request or a policy
// is none that IAM knows, error.
"use strict";

const { readFileSync } = require("node:fs");
const { runSimulation } = require("@cloud-copilot/iam-simulate");

function simulation(request) {
  return {
    request: {
      principal: request.principal,
      action: request.action,
      resource: { resource: request.resource, accountId: request.account },
      contextVariables: request.context ?? {},
    },
    identityPolicies: (request.policies ?? []).map((policy, i) => ({ name: `policy ${i}`, policy })),
    serviceControlPolicies: [],
    resourceControlPolicies: [],
    resourcePolicy: request.resourcePolicy,
    vpcEndpointPolicies: request.endpointPolicy && [{ name: "endpoint", policy: request.endpointPolicy }],
  };
}

(async () => {
  for (const request of JSON.parse(readFileSync(0, "utf8"))) {
    const { overallResult, errors } = await runSimulation(simulation(request), {});
    console.log(JSON.stringify({ name: request.name, decision: overallResult, error: errors && JSON.stringify(errors) }));
  }
})();

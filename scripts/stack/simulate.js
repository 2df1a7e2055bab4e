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

// The simulator knows the keys of an encryption context only by the name of their pattern.
const requests = readFileSync(0, "utf8").replaceAll("kms:EncryptionContext:SecretARN", () => "kms:EncryptionContext:${EncryptionContextKey}");

(async () => {
  for (const request of JSON.parse(requests)) {
    const { overallResult, errors } = await runSimulation(simulation(request), {});
    console.log(JSON.stringify({ name: request.name, decision: overallResult, error: errors && JSON.stringify(errors) }));
  }
})();

// Validates templates by AWS's offline validator, each as it would be deployed
// with some parameters.
//
//   NODE_PATH=.../node_modules node scripts/stack/validate.js <looks.json
//
// Takes [{"file": ..., "parameters": {...}}] and prints one JSON object a
// finding: file, by, rule, at, text. With all parameters open it would follow
// every combination of the conditions, and give up after minutes.
"use strict";

const { readFileSync } = require("node:fs");
const { CelEngine, TemplateFile } = require("@aws/cloudformation-validate");

// In an output, the validator does not see that an Fn::If has the condition of what it
// refers to. cfn-lint looks at the same under the same name, and sees it.
const withinIf = (d) => d.ruleId === "W1001" && /^Outputs\/.*Fn::If\.[12]/.test(d.propertyPath ?? "");

// It does not see a parameter that only a condition splits. cfn-lint sees it.
const withinSplit = (d) => d.ruleId === "W2001";

const engine = new CelEngine({});
for (const { file, parameters } of JSON.parse(readFileSync(0, "utf8"))) {
  const report = engine.validateStandard(new TemplateFile(file), {
    severityLevel: "WARN",
    parameterOverrides: parameters,
    pseudoParameterOverrides: { region: "eu-west-1", partition: "aws", accountId: "111122223333", urlSuffix: "amazonaws.com" },
  });
  const findings = report.diagnostics.filter((d) => !withinIf(d) && !withinSplit(d)).map((d) => ({
    rule: d.ruleId,
    at: [d.entity?.logicalId, d.propertyPath].filter(Boolean).join(" "),
    text: d.message,
  }));
  if (report.status !== "OK") {
    findings.push({ rule: report.status, at: "", text: "the validator did not come to its end" });
  }
  for (const found of findings) {
    console.log(JSON.stringify({ file, by: "cloudformation-validate", ...found }));
  }
}

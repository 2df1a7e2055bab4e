"""Lints templates as they stand, and as SAM translates them.

    python scripts/stack/lint.py TEMPLATE...

Prints one JSON object a finding: file, by, rule, at, text. Each of the two looks
sees what the other cannot: misspelt SAM properties are gone after translation,
and names of IAM actions are looked at only in what SAM generates.
"""

import argparse
import json
import os

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")

from cfnlint.api import ManualArgs, lint
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

parser = argparse.ArgumentParser()
parser.add_argument("templates", nargs="+")
asked = parser.parse_args()

SAM = "AWS::Serverless-2016-10-31"


def finding(file, by, rule, at, text):
    print(json.dumps({"file": file, "by": by, "rule": rule, "at": at, "text": text}))


class NoManagedPolicies:
    """Our roles are explicit, so that no managed policy is ever looked up."""

    def load(self):
        return {}


def look(file, by, text):
    args = ManualArgs(regions=["eu-west-1"], include_checks=["I"])
    for match in lint(text, config=args):
        at = "/".join(str(step) for step in getattr(match, "path", None) or []) or f"line {match.linenumber}"
        finding(file, by, match.rule.id, at, match.message)


def translate(file, text):
    template = yaml_parse(text)
    for resource in template["Resources"].values():
        if resource.get("Type") == "AWS::Serverless::Function" and isinstance(resource["Properties"]["CodeUri"], str):
            # What sam package would put there.
            resource["Properties"]["CodeUri"] = {"Bucket": "bucket", "Key": "key"}
    try:
        return json.dumps(transform(template, {}, NoManagedPolicies()), indent=1)
    except InvalidDocumentException as wrong:
        for cause in wrong.causes:
            finding(file, "sam-translator", type(cause).__name__, "", cause.message)
        return None


for file in asked.templates:
    with open(file, encoding="utf-8") as opened:
        text = opened.read()
    look(file, "cfn-lint", text)
    if SAM in text:
        translated = translate(file, text)
        if translated is not None:
            look(file, "cfn-lint, translated", translated)

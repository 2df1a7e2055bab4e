"""Prints the response of an operation of AWS as JSON: its headers and its body.

The arguments are a service, an operation and the members of the response as JSON. The
API model of the service checks the members: an unknown member or a wrong type is an
error.
"""

import json
import sys

from botocore.loaders import Loader
from botocore.validate import ParamValidator
from moto.core.model import ServiceModel
from moto.core.serialize import get_serializer_class

service, operation, members = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
model = ServiceModel(Loader().load_service_model(service, "service-2"), service)
of = model.operation_model(operation)
report = ParamValidator().validate(members, of.output_shape)
if report.has_errors():
    sys.exit(report.generate_report())
response = get_serializer_class(service, model.resolved_protocol)(of).serialize(members)
body = response["body"]
print(json.dumps({"headers": dict(response["headers"]), "body": body if isinstance(body, str) else body.decode()}))

# The stack of a site, as a resource of Terraform or OpenTofu. Run "make package" first:
# its folder bin/package has the template and the code of the functions. Terraform sees
# changes to parameters. Outputs and the state of the stack stay in CloudFormation.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "bucket" {
  description = "S3 bucket in the Region of the stack, for the package"
  type        = string
}

variable "package" {
  description = "Folder that \"make package\" wrote"
  type        = string
  default     = "bin/package"
}

variable "release" {
  description = "Version of the package. A new version has a new prefix in the bucket, by which CloudFormation detects new code"
  type        = string
}

variable "parameters" {
  description = "Parameters of the stack, as \"gitlatch init --aws\" wrote them to samconfig.toml"
  type        = map(string)
  default = {
    Site          = "prod-eu"
    ClusterName   = "prod-eu-blue"
    RepositoryUrl = "https://github.com/example/fleet"
    Credential    = "gitlatch/git"
  }
}

locals {
  prefix = "gitlatch/${var.release}/"
}

resource "aws_s3_object" "package" {
  for_each = fileset(var.package, "*")

  bucket      = var.bucket
  key         = "${local.prefix}${each.value}"
  source      = "${var.package}/${each.value}"
  source_hash = filemd5("${var.package}/${each.value}")
}

data "aws_s3_bucket" "package" {
  bucket = var.bucket
}

# The template is too large for template_body.
resource "aws_cloudformation_stack" "gitlatch" {
  name         = "gitlatch"
  template_url = "https://${data.aws_s3_bucket.package.bucket_regional_domain_name}/${aws_s3_object.package["gitlatch.yaml"].key}"
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
  parameters = merge(var.parameters, {
    CodeBucket = var.bucket
    CodePrefix = local.prefix
  })

  depends_on = [aws_s3_object.package]
}

output "stack" {
  description = "Outputs of the stack, such as the commands of the next steps"
  value       = aws_cloudformation_stack.gitlatch.outputs
}

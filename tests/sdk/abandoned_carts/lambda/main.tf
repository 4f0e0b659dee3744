terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

provider "aws" {
  region = "eu-west-1"
}

variable "lambda_runtime" {
  type    = string
  default = "java17"
}

variable "marketing_url" {
  type    = string
  default = "http://127.0.0.1:9099/abandoned-carts"
}

data "aws_dynamodb_table" "cartactivity-table" {
  name = "cartapplication_cartactivity"
}

resource "aws_iam_role" "abandoned-cart-function" {
  name = "my-abandoned-cart-function"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Action    = "sts:AssumeRole"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
  managed_policy_arns = ["arn:aws:iam::aws:policy/service-role/AWSLambdaDynamoDBExecutionRole"]
}

resource "aws_lambda_function" "abandoned-cart-function" {
  runtime       = var.lambda_runtime
  function_name = "my-abandoned-cart-function"
  handler       = "com.jdriven.function.adapters.lambda.AbandonedCartHandler"
  filename      = "target/abandoned-carts.jar"
  role          = aws_iam_role.abandoned-cart-function.arn
  memory_size   = 512
  timeout       = 30

  environment {
    variables = {
      JAVA_TOOL_OPTIONS = "-XX:+TieredCompilation -XX:TieredStopAtLevel=1"
      MARKETING_URL     = var.marketing_url
    }
  }
}

resource "aws_lambda_event_source_mapping" "abandoned-cart-function_event-source-mapping" {
  event_source_arn = data.aws_dynamodb_table.cartactivity-table.stream_arn
  function_name    = aws_lambda_function.abandoned-cart-function.function_name
  filter_criteria {
    filter {
      pattern = jsonencode({
        "userIdentity" : {
          "type" : ["Service"]
          "principalId" : ["dynamodb.amazonaws.com"]
        }
        "dynamodb" : {
          "OldImage" : {
            "productids" : {
              "SS" : [{ "exists" : true }]
            }
            "customerid" : {
              "S" : [{ "exists" : true }]
            }
          }
        }
      })
    }
  }
  starting_position              = "TRIM_HORIZON"
  maximum_retry_attempts         = 1
  bisect_batch_on_function_error = true
  enabled                        = true
}

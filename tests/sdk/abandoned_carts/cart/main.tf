# The page's table without the attributes that are not keys: the AWS provider rejects the type "SS" and attributes that no key
# or index uses.
resource "aws_dynamodb_table" "cartapplication_cartactivity" {
  name             = "cartapplication_cartactivity"
  hash_key         = "cartid"
  stream_enabled   = true
  stream_view_type = "NEW_AND_OLD_IMAGES"
  ttl {
    enabled        = true
    attribute_name = "ttl"
  }
  attribute {
    name = "cartid"
    type = "S"
  }
  billing_mode = "PAY_PER_REQUEST"
}

"""Creates, uses and deletes a table with Debian's awscli."""

import json
import time
import unittest

from mayfly_server import MayflyServer


def setUpModule():
    global server, aws
    server = MayflyServer.for_module()
    aws = server.aws


class AwsCliTest(unittest.TestCase):
    def test_the_record_of_an_expired_session_names_the_service(self):
        aws(
            "dynamodb", "create-table", "--table-name", "sessions",
            "--attribute-definitions", "AttributeName=id,AttributeType=S", "AttributeName=user,AttributeType=S",
            "--key-schema", "AttributeName=id,KeyType=HASH",
            "--global-secondary-indexes",
            "IndexName=by_user,KeySchema=[{AttributeName=user,KeyType=HASH}],Projection={ProjectionType=ALL}",
            "--billing-mode", "PAY_PER_REQUEST",
            "--stream-specification", "StreamEnabled=true,StreamViewType=OLD_IMAGE",
        )  # fmt: skip
        aws("dynamodb", "wait", "table-exists", "--table-name", "sessions")
        aws(
            "dynamodb", "update-time-to-live", "--table-name", "sessions",
            "--time-to-live-specification", "Enabled=true,AttributeName=expires",
        )  # fmt: skip
        described = aws("dynamodb", "describe-time-to-live", "--table-name", "sessions")
        self.assertEqual(
            described, {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}}
        )

        expires = int(time.time()) + 3600
        item = {"id": {"S": "s-1"}, "user": {"S": "nina"}, "expires": {"N": str(expires)}}
        aws("dynamodb", "put-item", "--table-name", "sessions", "--item", json.dumps(item))
        query = (
            "dynamodb", "query", "--table-name", "sessions", "--index-name", "by_user",
            "--key-condition-expression", "#u = :u", "--expression-attribute-names", '{"#u": "user"}',
            "--expression-attribute-values", '{":u": {"S": "nina"}}',
        )  # fmt: skip
        self.assertEqual(aws(*query)["Items"], [item])
        server.advance(2 * 3600)
        self.assertEqual(aws(*query)["Items"], [])

        arn = aws("dynamodbstreams", "list-streams", "--table-name", "sessions")["Streams"][0]["StreamArn"]
        shard = aws("dynamodbstreams", "describe-stream", "--stream-arn", arn)["StreamDescription"]["Shards"][0]
        iterator = aws(
            "dynamodbstreams", "get-shard-iterator", "--stream-arn", arn, "--shard-id", shard["ShardId"],
            "--shard-iterator-type", "TRIM_HORIZON",
        )["ShardIterator"]  # fmt: skip
        records = aws("dynamodbstreams", "get-records", "--shard-iterator", iterator)["Records"]
        self.assertEqual([record["eventName"] for record in records], ["INSERT", "REMOVE"])
        self.assertNotIn("userIdentity", records[0])
        self.assertEqual(records[1]["userIdentity"], {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"})
        self.assertEqual(records[1]["dynamodb"]["OldImage"], item)
        aws("dynamodb", "delete-table", "--table-name", "sessions")
        self.assertEqual(aws("dynamodb", "list-tables"), {"TableNames": []})

    def test_the_aws_cli_prints_dynamodbs_error_message(self):
        with self.assertRaises(RuntimeError) as raised:
            aws("dynamodb", "get-item", "--table-name", "nowhere", "--key", '{"id": {"S": "x"}}')
        self.assertEqual(
            str(raised.exception),
            "An error occurred (ResourceNotFoundException) when calling the GetItem operation: "
            "Requested resource not found",
        )


if __name__ == "__main__":
    unittest.main()

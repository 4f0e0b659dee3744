"""Compiles and runs the examples of docs/sweep.md for writers in JavaScript, Go and Java: the items that they put are swept
once they expire, and not before. (sweep_test.py tests the Python example.)"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import time
import unittest

from mayfly_server import MayflyServer, binary, eventually, key_schema

HERE = pathlib.Path(__file__).resolve().parent
MANUAL = HERE.parents[1].joinpath("docs/sweep.md").read_text()
WINDOW, SHARDS, HOUR = 60, 16, 3600
SECONDS_MAX = 600  # for a build, including downloads from a package registry


def example(language):
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", MANUAL, re.M | re.S)
    return block


JAVASCRIPT = """
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const documents = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: process.env.ENDPOINT, region: "us-east-1", credentials }));

%s
for (const [id, ttl] of [["gone", process.env.GONE], ["stays", process.env.STAYS]])
  await documents.send(new PutCommand({ TableName: "visits", Item: { id, ...swept(Number(ttl)) } }));
"""

GO = """
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

%s
func main() {
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(os.Getenv("ENDPOINT")),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	for id, variable := range map[string]string{"gone": "GONE", "stays": "STAYS"} {
		ttl, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
		item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
		swept(item, ttl)
		if err == nil {
			_, err = client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("visits"), Item: item})
		}
		if err != nil {
			panic(err)
		}
	}
}
"""

JAVA = """
package mayfly;

import java.net.URI;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class WriterTest {
%s
    @Test
    void putsBoth() {
        var credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test"));
        var endpoint = URI.create(System.getenv("ENDPOINT"));
        try (var client =
                DynamoDbClient.builder().endpointOverride(endpoint).region(Region.US_EAST_1).credentialsProvider(credentials).build()) {
            for (var written : Map.of("gone", "GONE", "stays", "STAYS").entrySet()) {
                Map<String, AttributeValue> item = new HashMap<>(Map.of("id", AttributeValue.fromS(written.getKey())));
                swept(item, Long.parseLong(System.getenv(written.getValue())));
                client.putItem(request -> request.tableName("visits").item(item));
            }
        }
    }
}
"""


class SweepWritersTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="mayfly-writers-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.server = MayflyServer()
        self.addCleanup(self.server.stop)
        self.client = self.server.client("dynamodb")
        self.client.create_table(
            TableName="visits",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=key_schema("id"),
            BillingMode="PAY_PER_REQUEST",
        )
        self.run_program(self.sweep("plan", "--apply"))

    def sweep(self, *words):
        return [binary(), "sweep", *words, "--endpoint", self.server.url, "--table", "visits", "--ttl-attribute", "ttl"]

    def run_program(self, command, **environment):
        keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
        done = subprocess.run(
            command, cwd=self.directory, env={**os.environ, **keys, **environment}, timeout=SECONDS_MAX, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def write(self, path, text, block):
        file = self.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.lstrip() % block)

    def items(self):
        return {item["id"]["S"]: item for item in self.client.scan(TableName="visits", ConsistentRead=True)["Items"]}

    def expect_swept(self, command):
        began = int(time.time())
        ttls = {"gone": began - 5, "stays": began + HOUR}
        self.run_program(command, ENDPOINT=self.server.url, GONE=str(ttls["gone"]), STAYS=str(ttls["stays"]))
        ended = int(time.time())
        items = self.items()
        for name, ttl in ttls.items():
            item = items[name]
            self.assertEqual((item["ttl"], item["sweep_at"]), ({"N": str(ttl)},) * 2)
            window, _, shard = item["sweep_window"]["S"].partition("#")
            # An item that is written with a past TTL is in the window that contains the time of the write.
            windows = {max(ttl, second) // WINDOW * WINDOW for second in range(began, ended + 1)}
            self.assertIn(int(window), windows)
            self.assertIn(int(shard), range(SHARDS))
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
        with subprocess.Popen(self.sweep(), env=environment, stderr=subprocess.DEVNULL) as sweeper:
            try:
                eventually(lambda: "gone" not in self.items())
            finally:
                sweeper.terminate()
        self.assertEqual(set(self.items()), set(items) - {"gone"})

    def test_items_written_by_the_javascript_example_are_swept(self):
        (self.directory / "node_modules").symlink_to(os.environ["NODE_MODULES"])
        self.write("writer.mjs", JAVASCRIPT, example("javascript"))
        self.expect_swept(["node", "writer.mjs"])

    def test_items_written_by_the_go_example_are_swept(self):
        for file in ("go.mod", "go.sum"):
            shutil.copy(HERE / "go" / file, self.directory)
        self.write("main.go", GO, example("go"))
        self.expect_swept(["go", "run", "."])

    def test_items_written_by_the_java_example_are_swept(self):
        shutil.copy(HERE / "java" / "pom.xml", self.directory)
        self.write("src/test/java/mayfly/WriterTest.java", JAVA, textwrap.indent(example("java"), "    "))
        self.expect_swept(["mvn", "-B", "-ntp", "-q", "test"])


if __name__ == "__main__":
    unittest.main()

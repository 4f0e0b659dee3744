// The card of an account without tables. The card offers sample data, and code that connects a program to the server.
import { button, choice, copy, element, fill } from "./elements.js";
import { create_table, enable_ttl } from "./create_table.js";
import { dynamodb, now, world } from "./server.js";
import { visit } from "./views.js";

const sample_name = "sample-carts",
  sample_items = 40;

/** For each language, code that creates a client for this server. @type {Record<string, { name: string, code: (at: typeof world) => string }>} */
const clients = {
  python: {
    name: "Python",
    code: ({ account, region }) => `import boto3

dynamodb = boto3.client(
    "dynamodb",
    endpoint_url="${location.origin}",
    region_name="${region}",
    aws_access_key_id="${account}",
    aws_secret_access_key="test",
)
print(dynamodb.list_tables()["TableNames"])
`,
  },
  javascript: {
    name: "JavaScript",
    code: ({ account, region }) => `import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";

const dynamodb = new DynamoDBClient({
  endpoint: "${location.origin}",
  region: "${region}",
  credentials: { accessKeyId: "${account}", secretAccessKey: "test" },
});
console.log((await dynamodb.send(new ListTablesCommand({}))).TableNames);
`,
  },
  java: {
    name: "Java",
    code: ({ account, region }) => `import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

DynamoDbClient dynamodb = DynamoDbClient.builder()
    .endpointOverride(URI.create("${location.origin}"))
    .region(Region.of("${region}"))
    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("${account}", "test")))
    .build();
System.out.println(dynamodb.listTables().tableNames());
`,
  },
  go: {
    name: "Go",
    code: ({ account, region }) => `package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func main() {
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("${location.origin}"),
		Region:       "${region}",
		Credentials:  credentials.NewStaticCredentialsProvider("${account}", "test", ""),
	})
	answer, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.TableNames)
}
`,
  },
  rust: {
    name: "Rust",
    code: ({ account, region }) => `use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::{Client, Config};

#[tokio::main]
async fn main() -> Result<(), aws_sdk_dynamodb::Error> {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url("${location.origin}")
        .region(Region::new("${region}"))
        .credentials_provider(Credentials::new("${account}", "test", None, None, "static"))
        .build();
    let answer = Client::from_conf(config).list_tables().send().await?;
    println!("{:?}", answer.table_names());
    Ok(())
}
`,
  },
  cli: {
    name: "AWS CLI",
    code: ({ account, region }) => `AWS_ACCESS_KEY_ID=${account} AWS_SECRET_ACCESS_KEY=test \\
  aws dynamodb list-tables --endpoint-url ${location.origin} --region ${region}
`,
  },
};

/** The card of an account that has no tables. */
export function nothing_here() {
  const kept = localStorage.getItem("client") ?? "";
  let chosen = Object.hasOwn(clients, kept) ? kept : "python";
  const code = element("pre", { class: "mono", tabindex: 0, "aria-label": "Code to connect" });
  const show = () => fill(code, clients[chosen].code(world));
  show();
  return element(
    "section",
    { class: "card stack" },
    element("h1", {}, "No tables yet"),
    element(
      "p",
      {},
      `Account ${world.account} has no tables in ${world.region}. Create one, look around with sample data, or connect a program.`,
    ),
    element(
      "div",
      { class: "row" },
      button("Create a table", create_table, { class: "primary" }),
      button("Add sample data", add_sample),
    ),
    element("h2", {}, "Connect a program"),
    choice(
      "Language",
      Object.entries(clients).map(([own, { name }]) => [own, name]),
      chosen,
      (own) => {
        chosen = own;
        localStorage.setItem("client", own);
        show();
      },
    ),
    code,
    element(
      "div",
      {},
      button("Copy", () => copy(code.textContent ?? "")),
    ),
  );
}

/** A sample item. Its TTL is up to a week away. One sample item has a TTL in milliseconds, which is a common error. @param {number} at */
function sample_item(at) {
  const seconds = Math.floor(now() / 1000) + Math.round(600 * 1.17 ** at);
  return {
    id: { S: "cart-" + String(at).padStart(2, "0") },
    ttl: { N: String(at === sample_items - 1 ? seconds * 1000 : seconds) },
    customer: { S: ["ada", "alan", "barbara", "edsger", "grace"][at % 5] },
    status: { S: at % 3 ? "open" : "paid" },
    total: { N: (9.5 + at * 3.25).toFixed(2) },
    lines: { L: [{ M: { sku: { S: "A-" + (at % 7) }, quantity: { N: String(1 + (at % 4)) } } }] },
  };
}

/** Creates a table with a stream and TTL, and items that expire in ten minutes to a few days. */
async function add_sample() {
  await dynamodb("CreateTable", {
    TableName: sample_name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
  });
  await enable_ttl(sample_name, "ttl");
  for (let at = 0; at < sample_items; ++at)
    await dynamodb("PutItem", { TableName: sample_name, Item: sample_item(at) });
  await visit("#/tables/" + sample_name);
}

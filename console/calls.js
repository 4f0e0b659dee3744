// A request as code: for boto3, the AWS CLI and the AWS SDK for JavaScript.
import { button, choice, copy, element, fill } from "./elements.js";
import { dialog } from "./dialogs.js";
import { world } from "./server.js";

/** The base64 strings of {"B":"…"} or {"BS":[…]}; null for any other value. @param {any} value */
function binary(value) {
  const names = Object.keys(value);
  if (names.length !== 1) return null;
  if (names[0] === "B" && typeof value.B === "string") return [value.B];
  if (
    names[0] === "BS" &&
    Array.isArray(value.BS) &&
    value.BS.every((/** @type {any} */ one) => typeof one === "string")
  )
    return value.BS;
  return null;
}

/**
 * A value as a literal of a language whose literals look like JSON.
 * @param {any} value
 * @param {{ yes: string, no: string, nothing: string, bytes: (base64: string) => string }} language
 * @param {string} indent
 * @returns {string}
 */
function literal(value, language, indent = "") {
  if (value === true) return language.yes;
  if (value === false) return language.no;
  if (value === null) return language.nothing;
  if (typeof value !== "object") return JSON.stringify(value);
  const deeper = indent + "    ";
  const flat = JSON.stringify(value).length < 60;
  const [join, begin, end] = flat ? [", ", "", ""] : [",\n" + deeper, "\n" + deeper, "\n" + indent];
  if (Array.isArray(value)) {
    return "[" + begin + value.map((one) => literal(one, language, deeper)).join(join) + end + "]";
  }
  const bytes = binary(value);
  if (bytes) {
    return "B" in value ? `{"B": ${language.bytes(value.B)}}` : `{"BS": [${bytes.map(language.bytes).join(", ")}]}`;
  }
  const members = Object.entries(value).map(
    ([name, one]) => JSON.stringify(name) + ": " + literal(one, language, deeper),
  );
  return "{" + (members.length ? begin + members.join(join) + end : "") + "}";
}

/** "BatchGetItem" as "batch_get_item", with `sign` between the words. @param {string} operation @param {string} sign */
const words_of = (operation, sign) => operation.replace(/(?!^)([A-Z])/g, sign + "$1").toLowerCase();

/** @param {string} operation @param {any} input */
export function boto3(operation, input) {
  const python = {
    yes: "True",
    no: "False",
    nothing: "None",
    bytes: (/** @type {string} */ base64) => `b64decode(${JSON.stringify(base64)})`,
  };
  const members = Object.entries(input)
    .map(([name, value]) => `    ${name}=${literal(value, python, "    ")},\n`)
    .join("");
  const imports = members.includes("b64decode(") ? "from base64 import b64decode\n\nimport boto3" : "import boto3";
  return `${imports}

dynamodb = boto3.client(
    "dynamodb",
    endpoint_url=${JSON.stringify(location.origin)},
    region_name=${JSON.stringify(world.region)},
    aws_access_key_id=${JSON.stringify(world.account)},
    aws_secret_access_key="test",
)
answer = dynamodb.${words_of(operation, "_")}(
${members})
print(answer)
`;
}

/** @param {string} operation @param {any} input */
export function cli(operation, input) {
  const quoted = "'" + JSON.stringify(input, null, 2).replaceAll("'", "'\\''") + "'";
  return `AWS_ACCESS_KEY_ID=${world.account} AWS_SECRET_ACCESS_KEY=test aws dynamodb ${words_of(operation, "-")} \\
  --endpoint-url ${location.origin} --region ${world.region} --cli-input-json ${quoted}
`;
}

/** @param {string} operation @param {any} input */
export function javascript(operation, input) {
  const script = {
    yes: "true",
    no: "false",
    nothing: "null",
    bytes: (/** @type {string} */ base64) => `Buffer.from(${JSON.stringify(base64)}, "base64")`,
  };
  return `import { DynamoDBClient, ${operation}Command } from "@aws-sdk/client-dynamodb";

const dynamodb = new DynamoDBClient({
  endpoint: ${JSON.stringify(location.origin)},
  region: ${JSON.stringify(world.region)},
  credentials: { accessKeyId: ${JSON.stringify(world.account)}, secretAccessKey: "test" },
});
console.log(await dynamodb.send(new ${operation}Command(${literal(input, script)})));
`;
}

/** Shows a call in each language. @param {string} operation @param {any} input */
export function show_call(operation, input) {
  const ways = { boto3, cli, javascript };
  let way = /** @type {keyof typeof ways} */ (localStorage.getItem("language") ?? "boto3");
  if (!(way in ways)) way = "boto3";
  const code = element("pre", { class: "mono", tabindex: 0 });
  const show = () => fill(code, ways[way](operation, input));
  show();
  dialog(
    operation + " as code",
    [
      choice(
        "Language",
        [
          ["boto3", "boto3"],
          ["cli", "AWS CLI"],
          ["javascript", "JavaScript"],
        ],
        way,
        (chosen) => {
          way = /** @type {keyof typeof ways} */ (chosen);
          localStorage.setItem("language", way);
          show();
        },
      ),
      code,
    ],
    [button("Copy", () => copy(code.textContent ?? ""), { class: "primary" })],
  );
}

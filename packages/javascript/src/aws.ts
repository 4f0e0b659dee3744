// Types of the AWS SDK. Its packages are optional. If one is not installed, its types are `any`, so that a project with
// `skipLibCheck: false` still compiles. The @ts-ignore directives must be JSDoc comments, because tsc keeps only JSDoc
// comments in declaration files.

/** @ts-ignore: optional */
export type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
/** @ts-ignore: optional */
export type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
/** @ts-ignore: optional */
export type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
/** @ts-ignore: optional */
export type { TableDescription } from "@aws-sdk/client-dynamodb";
/** @ts-ignore: optional */
export type { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
/** @ts-ignore: optional */
export type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

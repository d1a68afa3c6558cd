import {
  CloudFormationClient,
  type CloudFormationClientConfig,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import * as z from 'zod';
import { readJson } from '../../lib/base/json.ts';
import { CommandFailure } from '../failure.ts';

/** Account → secret. */
const SecretIds = z.string().transform(readJson).pipe(z.record(z.string(), z.string()));

/** The outputs of the CDK stack. */
const OutputsSchema = z.object({
  /** The URL without account and token, with a slash at the end. */
  WebhookUrl: z.string(),
  LedgerTable: z.string(),
  /** Absent in stacks of older releases. */
  SnapshotTable: z.string().optional(),
  /** URLs. */
  SignalQueue: z.string(),
  DeadLetterQueue: z.string(),
  WebhookTokens: SecretIds,
  ExchangeKeys: SecretIds,
  ReceiveFunction: z.string(),
  ExecuteFunction: z.string(),
  /** ARN. */
  AlarmTopic: z.string(),
  /** Absent while the relay tells nobody. */
  NoticeSecret: z.string().optional(),
  /** URL; absent in any stage but a paper stage. */
  PaperExchange: z.string().optional(),
});

/** The addresses and names of a deployed relay's parts. */
export type StackOutputs = z.output<typeof OutputsSchema>;

/** @throws CommandFailure when the stack does not exist or is not a relay */
export async function readStackOutputs(
  name: string,
  options: CloudFormationClientConfig,
): Promise<StackOutputs> {
  const client = new CloudFormationClient(options);
  const { Stacks } = await client
    .send(new DescribeStacksCommand({ StackName: name }))
    .catch((error: unknown) => {
      throw isUnknownStack(error) ? createUnknownStack(name) : error;
    });
  const outputs = Object.fromEntries(
    (Stacks?.[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey ?? '', OutputValue]),
  );
  const parsed = OutputsSchema.safeParse(outputs);
  if (parsed.success) return parsed.data;
  const missing = parsed.error.issues.map(({ path }) => path.join('.'));
  throw new CommandFailure(
    'no_relay',
    `stack "${name}" is not a relay of this release: its outputs lack ${missing.join(', ')}`,
    'Name the stack that `cdk deploy` created, or deploy it again.',
  );
}

/** The physical ids of a stack's resources of one type. */
export async function listStackResources(
  name: string,
  type: string,
  options: CloudFormationClientConfig,
): Promise<readonly string[]> {
  const client = new CloudFormationClient(options);
  const found: string[] = [];
  for await (const { StackResourceSummaries = [] } of paginateListStackResources(
    { client },
    { StackName: name },
  ))
    for (const { ResourceType, PhysicalResourceId } of StackResourceSummaries)
      if (ResourceType === type && PhysicalResourceId !== undefined) found.push(PhysicalResourceId);
  return found;
}

function isUnknownStack(error: unknown): boolean {
  return error instanceof Error && /does not exist/.test(error.message);
}

function createUnknownStack(name: string): CommandFailure {
  return new CommandFailure(
    'unknown_stack',
    `there is no stack "${name}" in this account and region`,
    'Check the name (`npx cdk list` shows it), the region (--region) and the credentials (AWS_PROFILE).',
  );
}

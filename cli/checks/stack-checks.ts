import { APIGatewayClient, GetRestApiCommand } from '@aws-sdk/client-api-gateway';
import {
  CloudWatchClient,
  GetMetricStatisticsCommand,
  paginateDescribeAlarms,
} from '@aws-sdk/client-cloudwatch';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { paginateListSubscriptionsByTopic, SNSClient } from '@aws-sdk/client-sns';
import * as z from 'zod';
import type { AwsAccess } from '../../lib/base/aws-client.ts';
import { readJson } from '../../lib/base/json.ts';
import { type HostConfig, tradingViewAddresses } from '../../lib/host/config.ts';
import { createSqsClient, type SqsClient } from '../../lib/queue/sqs.ts';
import { listStackResources, type StackOutputs } from '../session/stack.ts';
import { type Check, checkQueue, checkSubscribers, fail, pass } from './check.ts';

/** A stack and its configuration. */
export interface Stack {
  readonly stackName: string;
  /** Options of every SDK client. */
  readonly options: { readonly region?: string };
  readonly access: AwsAccess;
  readonly outputs: StackOutputs;
  readonly aws: HostConfig['aws'];
}

export async function diagnoseStack(stack: Stack): Promise<readonly Check[]> {
  const checks = await Promise.all([
    checkFunctions(stack),
    checkSignalQueue(stack),
    checkAlarms(stack),
    checkAlarmMail(stack),
    checkAllowlist(stack),
  ]);
  return checks.flat();
}

/**
 * Invokes each function with an event that has no effect. This checks its code, configuration and
 * environment.
 */
async function checkFunctions({ options, outputs }: Stack): Promise<readonly Check[]> {
  const client = new LambdaClient(options);
  const { ReceiveFunction, ExecuteFunction } = outputs;
  return await Promise.all([
    checkFunction(client, 'receive-signal', ReceiveFunction, { httpMethod: 'GET' }),
    checkFunction(client, 'execute-signal', ExecuteFunction, { Records: [] }),
  ]);
}

async function checkFunction(
  client: LambdaClient,
  name: string,
  functionName: string,
  event: object,
): Promise<Check> {
  const { FunctionError } = await client.send(
    new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) }),
  );
  return FunctionError === undefined
    ? pass(name, 'starts and responds')
    : fail(name, `fails (${FunctionError})`, `Read the log of ${functionName}.`);
}

async function checkSignalQueue({ options, access, outputs }: Stack): Promise<readonly Check[]> {
  const client = createSqsClient(access);
  const [signals, dead, oldestAgeMs] = await Promise.all([
    countMessages(client, outputs.SignalQueue),
    countMessages(client, outputs.DeadLetterQueue),
    readOldestAgeMs(options, outputs.SignalQueue),
  ]);
  return checkQueue({ waiting: signals, deadLetters: dead, oldestAgeMs: signals === 0 ? null : oldestAgeMs });
}

async function countMessages(client: SqsClient, queueUrl: string): Promise<number> {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'];
  const { Attributes = {} } = await client.call('GetQueueAttributes', {
    QueueUrl: queueUrl,
    AttributeNames: names,
  });
  return names.reduce((sum, name) => sum + Number(Attributes[name]), 0);
}

/** CloudWatch updates this metric once a minute; null when there is no value yet. */
async function readOldestAgeMs(options: Stack['options'], queueUrl: string): Promise<number | null> {
  const nowMs = Date.now();
  const { Datapoints = [] } = await new CloudWatchClient(options).send(
    new GetMetricStatisticsCommand({
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: queueUrl.split('/').at(-1) ?? '' }],
      StartTime: new Date(nowMs - 600_000),
      EndTime: new Date(nowMs),
      Period: 60,
      Statistics: ['Maximum'],
    }),
  );
  const latest = Datapoints.toSorted((a, b) => Number(a.Timestamp) - Number(b.Timestamp)).at(-1);
  return latest?.Maximum === undefined ? null : latest.Maximum * 1000;
}

async function checkAlarms({ stackName, options }: Stack): Promise<readonly Check[]> {
  const names = new Set(await listStackResources(stackName, 'AWS::CloudWatch::Alarm', options));
  const active: string[] = [];
  for await (const { MetricAlarms = [] } of paginateDescribeAlarms(
    { client: new CloudWatchClient(options) },
    { StateValue: 'ALARM' },
  ))
    active.push(...MetricAlarms.map(({ AlarmName = '' }) => AlarmName).filter((name) => names.has(name)));
  return [
    active.length === 0
      ? pass('alarms', `none of ${names.size} is active`)
      : fail('alarms', `active: ${active.join(', ')}`, 'The description of each alarm says what to do.'),
  ];
}

/** SNS returns this instead of an ARN until the subscriber has confirmed. */
const unconfirmedArn = 'PendingConfirmation';

async function checkAlarmMail({ options, outputs, aws }: Stack): Promise<readonly Check[]> {
  const client = new SNSClient(options);
  const subscriptions = [];
  for await (const page of paginateListSubscriptionsByTopic({ client }, { TopicArn: outputs.AlarmTopic }))
    for (const { Endpoint = '', SubscriptionArn } of page.Subscriptions ?? [])
      subscriptions.push({ endpoint: Endpoint, isConfirmed: SubscriptionArn !== unconfirmedArn });
  return [checkSubscribers({ topic: outputs.AlarmTopic, email: aws.alarmEmail, subscriptions })];
}

const Statement = z.looseObject({
  Condition: z.object({
    IpAddress: z.object({ 'aws:SourceIp': z.union([z.string(), z.array(z.string())]) }),
  }),
});
const Policy = z.object({ Statement: z.union([Statement, z.array(Statement)]) });

async function checkAllowlist({ stackName, options, aws }: Stack): Promise<readonly Check[]> {
  const client = new APIGatewayClient(options);
  const apiIds = await listStackResources(stackName, 'AWS::ApiGateway::RestApi', options);
  return await Promise.all(
    apiIds.map(async (restApiId) => {
      const { policy = '' } = await client.send(new GetRestApiCommand({ restApiId }));
      return judgeAllowlist(policy, [...tradingViewAddresses, ...aws.allowedAddresses]);
    }),
  );
}

/** @param policy the API's resource policy as API Gateway returns it: JSON, whose quotes may be escaped */
export function judgeAllowlist(policy: string, expected: readonly string[]): Check {
  const name = 'allowed addresses';
  const deploy = 'Deploy again: `npx cdk deploy`.';
  const parsed = Policy.safeParse(parsePolicy(policy));
  if (!parsed.success) return fail(name, 'the API is not restricted to any addresses', deploy);
  const allowed = [parsed.data.Statement]
    .flat()
    .flatMap(({ Condition }) => [Condition.IpAddress['aws:SourceIp']].flat());
  const missing = expected.filter((address) => !allowed.includes(address));
  const strange = allowed.filter((address) => !expected.includes(address));
  if (missing.length === 0 && strange.length === 0)
    return pass(name, `TradingView's and ${expected.length - tradingViewAddresses.length} more`);
  const parts = [
    ...(missing.length === 0 ? [] : [`${missing.join(', ')} cannot call`]),
    ...(strange.length === 0 ? [] : [`${strange.join(', ')} can call and should not`]),
  ];
  return fail(name, parts.join('; '), deploy);
}

/** API Gateway returns a policy with the quotes of its JSON escaped. */
function parsePolicy(policy: string): unknown {
  return readJson(policy) ?? readJson(policy.replaceAll('\\"', '"').replaceAll('\\/', '/'));
}

import type { CloudFormationClientConfig } from '@aws-sdk/client-cloudformation';
import { type InstalledPart, outsideParts } from './installed-parts.ts';
import { listStackResources, type StackOutputs } from './stack.ts';

/** What CloudFormation deletes with the stack. */
const goingTypes = [
  ['AWS::SecretsManager::Secret', 'a secret: webhook tokens, exchange keys, channels'],
  ['AWS::SQS::Queue', 'a queue, with the signals that wait in it'],
  ['AWS::SNS::Topic', 'the topic of the alarms, with its subscriptions'],
  ['AWS::Logs::LogGroup', 'a log group'],
] as const;

/**
 * Everything of a deployed relay that holds something.
 *
 * @param region of the stack, for the commands
 */
export async function listStackParts(
  stackName: string,
  region: string,
  outputs: StackOutputs,
  options: CloudFormationClientConfig,
): Promise<readonly InstalledPart[]> {
  const tables = await listStackResources(stackName, 'AWS::DynamoDB::GlobalTable', options);
  const roles = await listStackResources(stackName, 'AWS::IAM::Role', options);
  const going = await Promise.all(
    goingTypes.map(async ([type, what]) => {
      const found = await listStackResources(stackName, type, options);
      return found.map((where) => ({ what, where, goesWithStack: true, remove: null }));
    }),
  );
  const own = `--region ${region}`;
  const kept = [outputs.LedgerTable, outputs.SnapshotTable].filter((name) => name !== undefined);
  return [
    {
      what: 'the stack: everything but what stays',
      where: stackName,
      goesWithStack: true,
      remove: `aws cloudformation delete-stack --stack-name ${stackName} ${own}`,
    },
    ...kept.map((where) => ({
      what: where === outputs.LedgerTable ? 'the ledger' : 'the snapshots',
      where,
      goesWithStack: false,
      remove: `aws dynamodb update-table --table-name ${where} --no-deletion-protection-enabled ${own} && aws dynamodb delete-table --table-name ${where} ${own}`,
    })),
    ...tables
      .filter((where) => !kept.includes(where))
      .map((where) => ({ what: 'the paper exchange', where, goesWithStack: true, remove: null })),
    ...going.flat(),
    ...roles
      .filter((where) => where.includes('ApiLogRole'))
      .map((where) => ({
        what: 'the role with which API Gateway writes the logs of ALL APIs of this account and region: leave it while you have another API',
        where,
        goesWithStack: false,
        remove: null,
      })),
    {
      what: 'what `cdk bootstrap` made: a stack, and a bucket with the code of the functions. Other apps of the CDK use it, too',
      where: 'CDKToolkit',
      goesWithStack: false,
      remove: null,
    },
    ...outsideParts.map((part) => ({ ...part, goesWithStack: false })),
  ];
}

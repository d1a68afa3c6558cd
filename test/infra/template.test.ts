import { describe, expect, test } from '@jest/globals';
import { requirements } from './requirements.ts';
import { type Resource, synthesize } from './synthesized.ts';
import { checkRequirement, findUnnoticed } from './template-checks.ts';

const template = await synthesize();

function resourcesOf(type: string): readonly (readonly [string, Resource])[] {
  return Object.entries(template.resources).filter(([, resource]) => resource.Type === type);
}

describe.each(Object.entries(requirements))('%s', (_, all) => {
  test.each(all)('has all that $id must have', (requirement) => {
    checkRequirement(template, requirement);
  });

  test.each(all)('notices each missing value of $id', (requirement) => {
    expect(findUnnoticed(template, requirement)).toEqual([]);
  });
});

describe('The stack', () => {
  test('has one route, to receive-signal, and only that route may invoke the function', () => {
    const methods = resourcesOf('AWS::ApiGateway::Method').map(([, { Properties }]) => Properties);
    const paths = resourcesOf('AWS::ApiGateway::Resource').map(
      ([, { Properties }]) => Properties['PathPart'],
    );
    const permissions = resourcesOf('AWS::Lambda::Permission').map(([, { Properties }]) => Properties);

    expect(methods).toMatchObject([{ HttpMethod: 'POST', Integration: { Type: 'AWS_PROXY' } }]);
    expect(JSON.stringify(methods)).toContain('RelayReceiveFunction');
    expect(paths.toSorted()).toEqual(['signals', '{account}', '{token}']);
    expect(permissions).toMatchObject([
      {
        Principal: 'apigateway.amazonaws.com',
        FunctionName: { 'Fn::GetAtt': ['RelayReceiveFunction', 'Arn'] },
      },
    ]);
    expect(JSON.stringify(permissions[0]?.['SourceArn'])).toContain('/POST/signals/*/*');
  });

  test('keeps the path, the token and messages that quote them out of the access log', () => {
    const settings = resourcesOf('AWS::ApiGateway::Stage').map(
      ([, { Properties }]) => Properties['AccessLogSetting'] as { Format: string },
    );
    const format = settings.map((setting) => setting.Format).join();

    expect(format).toContain('$context.resourcePath');
    expect(format).not.toMatch(
      /\$context\.(path|error\.message|integrationErrorMessage|customDomain|authorizer)/,
    );
  });

  test('gives every log group a retention, and every function exactly one log group', () => {
    const logs = resourcesOf('AWS::Logs::LogGroup');
    const functions = resourcesOf('AWS::Lambda::Function');

    expect(logs.map(([id, { Properties }]) => [id, Properties['RetentionInDays']]).toSorted()).toEqual([
      ['RelayExecuteLog', 30],
      ['RelayReceiveLog', 30],
      ['RelayReconcileLog', 30],
      ['RelaySnapshotsBalancesLog', 30],
      ['RelaySnapshotsFeesLog', 30],
      ['RelaySnapshotsInterestLog', 30],
      ['RelayWebhookAccessLog', 30],
    ]);
    expect(functions.map(([id]) => id).toSorted()).toEqual([
      'RelayExecuteFunction',
      'RelayReceiveFunction',
      'RelayReconcileFunction',
      'RelaySnapshotsBalancesFunction',
      'RelaySnapshotsFeesFunction',
      'RelaySnapshotsInterestFunction',
    ]);
  });

  test('encrypts every queue and denies every call without TLS', () => {
    const queues = resourcesOf('AWS::SQS::Queue').map(([id, { Properties }]) => [
      id,
      Properties['SqsManagedSseEnabled'],
    ]);
    const policies = resourcesOf('AWS::SQS::QueuePolicy').map(([, { Properties }]) =>
      JSON.stringify(Properties),
    );

    expect(queues.toSorted()).toEqual([
      ['RelaySignalsDeadLetters', true],
      ['RelaySignalsQueue', true],
      ['RelayUndelivered', true],
    ]);
    expect(policies).toHaveLength(3);
    expect(policies.every((text) => text.includes('"aws:SecureTransport":"false"'))).toBe(true);
  });

  test('tags every resource that takes tags with application and stage', () => {
    const untaggable =
      /Policy$|Deployment$|ApiGateway::(Resource|Method|Account|GatewayResponse)$|Permission$|MetricFilter$|EventInvokeConfig$|Subscription$|Scheduler::Schedule$|Dashboard$/;
    const untagged = Object.entries(template.resources)
      .filter(([, { Type }]) => !untaggable.test(Type))
      .filter(([, resource]) => {
        const text = JSON.stringify(resource.Properties);
        return !(
          text.includes('{"Key":"application","Value":"trading-relay"}') &&
          text.includes('{"Key":"stage","Value":"prod"}')
        );
      });

    expect(untagged.map(([id]) => id)).toEqual([]);
  });

  test('names its outputs as the CLI expects them, and no others', () => {
    expect(Object.keys(template.outputs).toSorted()).toEqual([
      'AlarmTopic',
      'DeadLetterQueue',
      'ExchangeKeys',
      'ExecuteFunction',
      'LedgerTable',
      'ReceiveFunction',
      'SignalQueue',
      'SnapshotTable',
      'WebhookTokens',
      'WebhookUrl',
    ]);
    expect(JSON.stringify(template.outputs['WebhookUrl'])).toContain('/signals/');
    expect(template.outputs['LedgerTable']).toMatchObject({ Value: { Ref: 'RelayLedgerTable' } });
    expect(template.outputs['SnapshotTable']).toMatchObject({ Value: { Ref: 'RelaySnapshotsTable' } });
    expect(template.outputs['DeadLetterQueue']).toMatchObject({ Value: { Ref: 'RelaySignalsDeadLetters' } });
  });

  test('names no region, no AWS account and no partition, so that it deploys anywhere', () => {
    expect(template.text).not.toMatch(/arn:aws|(us|eu|ap)-[a-z]+-\d|amazonaws\.com(?!")/);
    expect(template.text).not.toMatch(/\b\d{12}\b/);
  });

  test('has one dashboard that shows every alarm', () => {
    const [[, dashboard] = [], ...others] = resourcesOf('AWS::CloudWatch::Dashboard');
    const text = JSON.stringify(dashboard);

    expect(others).toEqual([]);
    for (const [id] of resourcesOf('AWS::CloudWatch::Alarm')) expect(text).toContain(id);
  });

  test('shows changes of fees on the dashboard, read from the log of snapshot-fees', () => {
    const [[, dashboard] = []] = resourcesOf('AWS::CloudWatch::Dashboard');

    expect(JSON.stringify(dashboard)).toMatch(
      /SOURCE '",\{"Ref":"RelaySnapshotsFeesLog"\},"' [^{]*filter ispresent\(note\)/,
    );
  });
});

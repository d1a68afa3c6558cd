import { describe, expect, test } from '@jest/globals';
import { readProjectFile } from '../support/project-files.ts';
import { infraConfig, synthesize } from './synthesized.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}
interface Document {
  readonly Statement: readonly Statement[];
}

const { main } = infraConfig.accounts;
const notices = { channels: ['telegram' as const, 'email' as const] };
const { resources } = await synthesize({ config: { ...infraConfig, accounts: { main }, notices } });
const statements = [...listAttached(), ...listInline()];

function listAttached(): readonly (readonly [role: string, Statement])[] {
  return Object.values(resources)
    .filter(({ Type }) => Type === 'AWS::IAM::Policy')
    .flatMap(({ Properties }) => {
      const { PolicyDocument, Roles } = Properties as { PolicyDocument: Document; Roles: { Ref: string }[] };
      return Roles.flatMap(({ Ref }) =>
        PolicyDocument.Statement.map((statement) => [Ref, statement] as const),
      );
    });
}

function listInline(): readonly (readonly [role: string, Statement])[] {
  return Object.entries(resources)
    .filter(([, { Type }]) => Type === 'AWS::IAM::Role')
    .flatMap(([role, { Properties }]) => {
      const { Policies = [] } = Properties as { Policies?: { PolicyDocument: Document }[] };
      return Policies.flatMap(({ PolicyDocument }) =>
        PolicyDocument.Statement.map((statement) => [role, statement] as const),
      );
    });
}

/** A row of the table without its reason column. */
function describeStatement(role: string, { Action, Resource }: Statement): readonly string[] {
  return [role, [Action].flat().join(' '), [Resource].flat().map(describeResource).join(' ')];
}

/** The logical id of a resource, followed by the text appended to its ARN. */
function describeResource(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const { 'Fn::GetAtt': attribute, 'Fn::Join': join } = resource as {
    'Fn::GetAtt'?: [string, string];
    'Fn::Join'?: [string, unknown[]];
  };
  return attribute?.[0] ?? join?.[1].map(describeResource).join(join[0]) ?? JSON.stringify(resource);
}

describe('docs/builders/iam.md', () => {
  const rows = readProjectFile('docs/builders/iam.md')
    .split('\n')
    .filter((line) => line.startsWith('| Relay'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );

  test('lists every statement of every role and no others', () => {
    expect(rows.map((row) => row.slice(0, 3))).toEqual(
      statements.map(([role, statement]) => describeStatement(role, statement)),
    );
  });

  test('gives a reason for each', () => {
    expect(rows.filter(([, , , reason = '']) => reason.length < 10)).toEqual([]);
  });
});

describe('The roles', () => {
  test('have no managed policy', () => {
    const managed = Object.values(resources).filter(
      ({ Type, Properties }) => Type === 'AWS::IAM::Role' && 'ManagedPolicyArns' in Properties,
    );

    expect(managed).toEqual([]);
  });

  test('only allow, without conditions, actions that are named in full', () => {
    for (const [, { Effect, Action, Condition }] of statements) {
      expect(Effect).toBe('Allow');
      expect(Condition).toBeUndefined();
      expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
    }
  });

  test('name every resource, except for the role that all APIs of the region share', () => {
    const wide = statements.filter(([, { Resource }]) => JSON.stringify(Resource).includes('*'));

    expect(wide.map(([role]) => role)).toEqual(['RelayWebhookApiLogRole']);
  });

  test('can be assumed only by their own service', () => {
    const trust = Object.entries(resources)
      .filter(([, { Type }]) => Type === 'AWS::IAM::Role')
      .map(([role, { Properties }]) => {
        const { Statement } = Properties['AssumeRolePolicyDocument'] as {
          Statement: { Principal: unknown }[];
        };
        return [role, ...Statement.map(({ Principal }) => Principal)];
      });

    expect(trust).toEqual([
      ['RelayReceiveRole', { Service: 'lambda.amazonaws.com' }],
      ['RelayExecuteRole', { Service: 'lambda.amazonaws.com' }],
      ['RelayReconcileRole', { Service: 'lambda.amazonaws.com' }],
      ['RelayReconcileScheduleRole', { Service: 'scheduler.amazonaws.com' }],
      ['RelayKeepWarmReceiveRole', { Service: 'scheduler.amazonaws.com' }],
      ['RelayKeepWarmExecuteRole', { Service: 'scheduler.amazonaws.com' }],
      ['RelaySnapshotsBalancesRole', { Service: 'lambda.amazonaws.com' }],
      ['RelaySnapshotsBalancesScheduleRole', { Service: 'scheduler.amazonaws.com' }],
      ['RelaySnapshotsFeesRole', { Service: 'lambda.amazonaws.com' }],
      ['RelaySnapshotsFeesScheduleRole', { Service: 'scheduler.amazonaws.com' }],
      ['RelaySnapshotsInterestRole', { Service: 'lambda.amazonaws.com' }],
      ['RelaySnapshotsInterestScheduleRole', { Service: 'scheduler.amazonaws.com' }],
      ['RelayWebhookApiLogRole', { Service: 'apigateway.amazonaws.com' }],
      ['RelayNoticesSendRole', { Service: 'lambda.amazonaws.com' }],
      ['RelayNoticesHeartbeatScheduleRole', { Service: 'scheduler.amazonaws.com' }],
    ]);
  });
});

import { describe, expect, test } from '@jest/globals';
import type { RelayConfig } from '../../lib/host/config.ts';
import { infraConfig, type SynthesizedTemplate, synthesize } from './synthesized.ts';

const { aws: _, ...withoutAws } = infraConfig;
const plain = await synthesize({ config: withoutAws, stage: 'rehearsal-1' });

function countOf({ resources }: SynthesizedTemplate, type: string): number {
  return Object.values(resources).filter(({ Type }) => Type === type).length;
}

test('Without allowedAddresses, only TradingView may call', () => {
  expect(plain.resources['RelayWebhookApi']?.Properties['Policy']).toMatchObject({
    Statement: [
      {
        Condition: {
          IpAddress: { 'aws:SourceIp': ['52.89.214.238', '34.212.75.30', '54.218.53.128', '52.32.178.7'] },
        },
      },
    ],
  });
});

test('Without an alarm email the topic exists but has no subscription', () => {
  expect(countOf(plain, 'AWS::SNS::Subscription')).toBe(0);
  expect(countOf(plain, 'AWS::SNS::Topic')).toBe(1);
});

test('A deployment without an alarm email warns at each synth; one with an email does not', async () => {
  const warning = 'NO ALARM WILL BE MAILED when an order is lost, refused or left open';

  expect(plain.warnings).toEqual([expect.stringContaining(warning)]);
  expect(plain.warnings[0]).toContain('Set aws.alarmEmail in relay.config.ts, deploy, and confirm the mail');
  expect((await synthesize()).warnings).toEqual([]);
});

test('A deployment with accounts in paper mode warns that nothing is sent for them', async () => {
  const { main, rehearsal } = infraConfig.accounts;
  const paper = { ...main, mode: 'paper' as const };
  const { warnings } = await synthesize({
    config: { ...infraConfig, accounts: { main: paper, rehearsal, other: paper } },
  });

  expect(warnings).toEqual([
    expect.stringMatching(/^NO ORDER IS SENT for main, other: .* set mode to 'live' in relay\.config\.ts/),
  ]);
});

test.each(['eu', 'https://whitebit.eu', 'https://whitebit.eu:443/'])(
  'A deployment for the EU address %s warns of the orders that it denies',
  async (address) => {
    const account = {
      mode: 'live' as const,
      allowUnguardedMarket: true,
      markets: { BTC_USDT: { tradesOn: 'spot' as const } },
    };
    const { warnings } = await synthesize({
      config: { ...infraConfig, exchange: { address, dialect: 'live' }, accounts: { main: account } },
    });

    expect(warnings).toEqual([expect.stringContaining('the relay denies limit and stop-limit orders')]);
  },
);

test('Logs are kept for three months unless the configuration says otherwise', () => {
  expect(plain.resources['RelayReceiveLog']?.Properties['RetentionInDays']).toBe(90);
});

test('A stage has its name in the path, in the resource policy, in its tags and in its metrics', () => {
  const { resources, text } = plain;

  expect(resources['RelayWebhookApiDeploymentStagerehearsal1']?.Properties['StageName']).toBe('rehearsal-1');
  expect(JSON.stringify(resources['RelayWebhookApi'])).toContain('execute-api:/rehearsal-1/POST/signals/*/*');
  expect(resources['RelayReceiveFunction']?.Properties['Tags']).toContainEqual({
    Key: 'stage',
    Value: 'rehearsal-1',
  });
  expect(text).toContain('TradingRelay/trading-relay-rehearsal-1/Relay');
  expect(text).not.toContain('prod');
});

test('Every account has its own token and key, and each function may read only the secrets it uses', async () => {
  const { resources } = await synthesize({
    config: { ...infraConfig, accounts: { a: infraConfig.accounts.main, b: infraConfig.accounts.main } },
  });
  const secrets = Object.keys(resources).filter(
    (id) => resources[id]?.Type === 'AWS::SecretsManager::Secret',
  );
  const policyOf = (role: string) => JSON.stringify(resources[`${role}DefaultPolicy`]);

  expect(secrets.toSorted()).toEqual([
    'RelaySecretsExchangeKeya',
    'RelaySecretsExchangeKeyb',
    'RelaySecretsWebhookTokena',
    'RelaySecretsWebhookTokenb',
  ]);
  expect(policyOf('RelayReceiveRole')).toContain('RelaySecretsWebhookTokenb');
  expect(policyOf('RelayReceiveRole')).not.toContain('ExchangeKey');
  expect(policyOf('RelayExecuteRole')).toContain('RelaySecretsExchangeKeyb');
  expect(policyOf('RelayExecuteRole')).not.toContain('WebhookToken');
  expect(policyOf('RelayReconcileRole')).toContain('RelaySecretsExchangeKeyb');
  expect(policyOf('RelayReconcileRole')).not.toContain('WebhookToken');
});

test('A stack that keeps nothing warm has no schedule and no role for it, and its function tells of no cold start', async () => {
  const { resources } = await synthesize({
    config: { ...infraConfig, aws: { ...infraConfig.aws, keepWarm: false } },
  });
  const variablesOf = (of: SynthesizedTemplate['resources']) =>
    Object.keys(
      (of['RelayExecuteFunction']?.Properties['Environment'] as { Variables: object } | undefined)
        ?.Variables ?? {},
    );

  expect(Object.keys(resources).filter((id) => id.includes('KeepWarm'))).toEqual([]);
  expect(variablesOf(resources)).not.toContain('RELEASE');
  expect(variablesOf((await synthesize()).resources)).toContain('RELEASE');
});

describe('Snapshots', () => {
  const { snapshots } = infraConfig;
  const withSnapshots = (changes: RelayConfig['snapshots']) =>
    synthesize({ config: { ...infraConfig, snapshots: { ...snapshots, ...changes } } });

  test('without a schedule have no function and no alarm, but the table still exists', async () => {
    const { resources, text } = await withSnapshots({ balances: null, fees: null, interest: null });
    const named = Object.keys(resources).filter((id) => /Snapshots|Balances|Fees|Interest/.test(id));

    expect(named).toEqual(['RelaySnapshotsTable']);
    expect(text).toContain('"SnapshotTable"');
    expect(text).not.toContain('Transfer fee changes');
  });

  test('of interest alone can be left out', async () => {
    const { resources } = await withSnapshots({ interest: null });

    expect(resources['RelaySnapshotsFeesSchedule']?.Type).toBe('AWS::Scheduler::Schedule');
    expect(Object.keys(resources).filter((id) => id.includes('Interest'))).toEqual([]);
  });

  test('scheduled more rarely than CloudWatch can look back have no alarm for missing runs; a failed run is kept with its alarm', async () => {
    const { resources } = await withSnapshots({
      fees: 'cron(10 6 ? * MON *)',
      interest: 'cron(0 6 1 JAN ? *)',
    });
    const undelivered = { OnFailure: { Destination: { 'Fn::GetAtt': ['RelayUndelivered', 'Arn'] } } };

    expect(Object.keys(resources).filter((id) => /Alarms(Fees|Interest)/.test(id))).toEqual([]);
    expect(resources['RelayAlarmsUndelivered']?.Type).toBe('AWS::CloudWatch::Alarm');
    for (const name of ['Fees', 'Interest'])
      expect(resources[`RelaySnapshots${name}ScheduleFailures`]?.Properties).toMatchObject({
        DestinationConfig: undelivered,
        MaximumRetryAttempts: 2,
      });
  });

  test.each(['Balances', 'Fees', 'Interest'])(
    'of %s may read the exchange keys of all accounts, and no token',
    async (name) => {
      const { resources } = await withSnapshots({});
      const policy = JSON.stringify(resources[`RelaySnapshots${name}RoleDefaultPolicy`]);

      expect(policy).toContain('RelaySecretsExchangeKeymain');
      expect(policy).toContain('RelaySecretsExchangeKeyrehearsal');
      expect(policy).not.toContain('WebhookToken');
    },
  );
});

import { describe, expect, test } from '@jest/globals';
import type { RelayConfig } from '../../lib/host/config.ts';
import { infraConfig, type SynthesizedTemplate, synthesize } from './synthesized.ts';

const telling = (notices: RelayConfig['notices']) => synthesize({ config: { ...infraConfig, notices } });
const idsOf = ({ resources }: SynthesizedTemplate, part: string) =>
  Object.keys(resources).filter((id) => id.includes(part));

test('Without a channel, the ledger has no stream, and nothing is made for notices', async () => {
  const template = await synthesize();
  expect(template.resources['RelayLedgerTable']?.Properties).not.toHaveProperty('StreamSpecification');
  expect(idsOf(template, 'Notice')).toEqual([]);
  expect(template.outputs).not.toHaveProperty('NoticeSecret');
});

describe('With channels', () => {
  test('a function follows the ledger from its first change on, gathers bursts, and gives up after six hours', async () => {
    const { resources, outputs } = await telling({ channels: ['telegram'] });

    expect(resources['RelayLedgerTable']?.Properties).toMatchObject({
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
    expect(resources['RelayNoticesChanges']?.Properties).toMatchObject({
      FunctionName: { Ref: 'RelayNoticesSendFunction' },
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 100,
      MaximumBatchingWindowInSeconds: 2,
      MaximumRecordAgeInSeconds: 21_600,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': ['RelayNoticesUndelivered', 'Arn'] } },
      },
    });
    // Retries end with the age of the records alone.
    expect(resources['RelayNoticesChanges']?.Properties).not.toHaveProperty('MaximumRetryAttempts');
    expect(outputs).toHaveProperty('NoticeSecret');
  });

  test('the filter lets through what tells somebody something, and not what the function itself writes', async () => {
    const { resources } = await telling({ channels: ['telegram'] });
    const criteria = resources['RelayNoticesChanges']?.Properties['FilterCriteria'] as {
      readonly Filters: readonly { readonly Pattern: string }[];
    };
    const names = criteria.Filters.map(
      ({ Pattern }) => JSON.parse(Pattern).dynamodb.Keys.item.S[0] as string | { prefix: string },
    );
    expect(names).toEqual([{ prefix: 'signal#' }, { prefix: 'alarm#' }, { prefix: 'day#' }, 'pause']);
  });

  test('the secret begins empty, and goes with the stack', async () => {
    const { resources } = await telling({ channels: ['telegram'] });
    expect(resources['RelayNoticesChannels']).toMatchObject({
      DeletionPolicy: 'Delete',
      Properties: { SecretString: '{}' },
    });
  });

  test('the heartbeat comes at its time in its zone; where all accounts have it off, nothing is made for it', async () => {
    const on = await telling({ channels: ['telegram'], heartbeatAt: '07:05', timeZone: 'Europe/Kyiv' });
    expect(on.resources['RelayNoticesHeartbeatSchedule']?.Properties).toMatchObject({
      ScheduleExpression: 'cron(5 7 * * ? *)',
      ScheduleExpressionTimezone: 'Europe/Kyiv',
    });
    const off = await telling({ channels: ['telegram'], tell: { heartbeat: 'off' } });
    expect(idsOf(off, 'Heartbeat')).toEqual([]);
    expect(JSON.stringify(off.resources['RelayNoticesSendRoleDefaultPolicy'])).not.toContain(
      'dynamodb:Query',
    );
  });

  test('only the channel email may publish to the topic of alarms', async () => {
    const policyOf = async (channels: readonly ('telegram' | 'email')[]) =>
      JSON.stringify(
        (await telling({ channels: [...channels] })).resources['RelayNoticesSendRoleDefaultPolicy'],
      );
    expect(await policyOf(['telegram'])).not.toContain('sns:Publish');
    expect(await policyOf(['email'])).toContain('sns:Publish');
  });

  test('records that no channel took raise an alarm', async () => {
    const { resources } = await telling({ channels: ['telegram'] });
    const [alarm] = idsOf({ resources } as SynthesizedTemplate, 'NoticesNotTold');
    expect(resources[alarm ?? '']?.Properties).toMatchObject({ Threshold: 0 });
  });
});

import { describe, expect, test } from '@jest/globals';
import {
  openExecuteServices,
  openReceiveServices,
  openReconcileServices,
  openSnapshotServices,
} from '../../lib/host/aws-services.ts';
import { parseConfig } from '../../lib/host/config.ts';
import exampleConfig from '../../relay.config.example.ts';

const config = parseConfig(exampleConfig);

test('a stack never counts as a paper exchange, wherever its exchange is', () => {
  const environment = {
    AWS_REGION: 'eu-central-1',
    EXCHANGE_KEYS: '{}',
    STACK_NAME: 'relay-test',
    LEDGER_TABLE: 'a',
    SIGNAL_QUEUE_URL: 'b',
  };
  const addresses = ['global', 'https://paper.example', 'http://127.0.0.1:8090'];

  const services = addresses.map((address) =>
    openExecuteServices({ ...config, exchange: { address, dialect: 'live' } }, environment),
  );

  expect(services.map(({ isPaperExchange }) => isPaperExchange)).toEqual([false, false, false]);
});

describe('the environment of a function', () => {
  test.each([
    ['receive-signal', openReceiveServices, 'WEBHOOK_TOKENS'],
    ['execute-signal', openExecuteServices, 'EXCHANGE_KEYS'],
    ['reconcile-signals', openReconcileServices, 'LEDGER_TABLE'],
  ] as const)('of %s must have all its variables', (_, open, name) => {
    expect(() => open(config, { AWS_REGION: 'eu-central-1' })).toThrow(
      `the environment variable ${name} is not set; deploy again`,
    );
  });

  test('of a snapshot function must have all its variables', () => {
    const environment = { AWS_REGION: 'eu-central-1', SNAPSHOT_TABLE: 'snapshots' };

    expect(() => openSnapshotServices('snapshot-fees', config, { AWS_REGION: 'eu-central-1' })).toThrow(
      'SNAPSHOT_TABLE is not set',
    );
    expect(() => openSnapshotServices('snapshot-fees', config, environment)).toThrow(
      'EXCHANGE_KEYS is not set',
    );
  });

  test.each(['{', '[]', '{"main":1}'])('must map accounts to secrets: %s does not', (WEBHOOK_TOKENS) => {
    expect(() => openReceiveServices(config, { AWS_REGION: 'eu-central-1', WEBHOOK_TOKENS })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseConfig, type RelayConfig } from '../../lib/host/config.ts';
import { readShippedConfig, shipConfig } from '../../lib/host/shipped-config.ts';
import { tradingGrounds } from '../../lib/model/account.ts';
import exampleConfig from '../../relay.config.example.ts';

const decimals = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.integer({ min: -20, max: 15 }))
  .map(([digits, exponent]) => `${digits}e${exponent}`);
const perCents = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, rest]) => `${whole}.${String(rest).padStart(6, '0')}%`);
const markets = fc.dictionary(
  fc.stringMatching(/^[A-Z0-9]{1,6}_[A-Z]{2,4}$/).filter((name) => !name.endsWith('_PERP')),
  fc.record({
    tradesOn: fc.constantFrom(...tradingGrounds.filter((ground) => ground !== 'futures')),
    sides: fc.constantFrom<('buy' | 'sell')[]>(['buy'], ['sell'], ['buy', 'sell']),
    maxAmount: fc.option(decimals),
    maxNotional: fc.option(decimals),
  }),
);
const perMinute = fc.option(fc.integer({ min: 1, max: 10_000 }));
const accounts = fc.dictionary(
  fc.stringMatching(/^[a-z0-9-]{1,32}$/),
  fc.record({
    mode: fc.constantFrom('live', 'paper', 'dry-run'),
    limitOffset: fc.option(perCents),
    maxLimitDistance: fc.constant(null),
    maxSlippage: fc.option(perCents),
    allowUnguardedMarket: fc.boolean(),
    markets,
    maxOrdersPerMinute: perMinute,
    maxSignalsPerMinute: perMinute,
  }),
  { minKeys: 1 },
);
const configs: fc.Arbitrary<RelayConfig> = fc.record({
  exchange: fc.record({
    address: fc.constantFrom('global', 'https://exchange.example'),
    dialect: fc.constantFrom('documented', 'live'),
  }),
  tickers: fc.dictionary(fc.string({ minLength: 1, unit: 'grapheme' }), fc.constant('BTC_USDT')),
  maxLagSeconds: fc.double({ min: 0.001, max: 86_400, noNaN: true }),
  accounts,
});

describe('A function reads the configuration that its bundle holds as', () => {
  test('the shipped example is checked', () => {
    const config = parseConfig(exampleConfig);

    expect(readShippedConfig(shipConfig(config))).toEqual(config);
  });

  test('any other is checked', () => {
    fc.assert(
      fc.property(configs, (config) => {
        const checked = parseConfig(config);

        expect(readShippedConfig(shipConfig(checked))).toEqual(checked);
      }),
    );
  });
});

test('A function without a configuration does not start, and says how it gets one', () => {
  expect(() => readShippedConfig(null)).toThrow(
    expect.objectContaining({
      code: 'config_missing',
      message: expect.stringContaining('only `npx cdk synth` and `npx cdk deploy` put it in'),
    }),
  );
});

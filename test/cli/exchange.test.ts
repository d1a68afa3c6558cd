import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

describe.each(['live', 'documented'] as const)('an exchange of the %s dialect', (dialect) => {
  let relay: RunningRelay;

  beforeAll(async () => {
    relay = await startRelay(dialect);
  });

  afterAll(() => relay.world.close());

  test('is pinged', async () => {
    expect(await runForJson(relay.here('ping'))).toEqual({
      exchangeUrl: relay.world.paper.url,
      dialect,
      response: 'pong',
      tookMs: expect.any(Number),
    });
  });

  test("tells each account's main balance", async () => {
    const [main, rehearsal, table] = await Promise.all([
      runForJson(relay.here('balance')),
      runForJson(relay.here('balance', '--account', 'rehearsal')),
      runCli(relay.here('balance')),
    ]);

    expect(main).toEqual({
      account: 'main',
      balances: { BTC: '1.25', ETH: '20', SOL: '0.5', USDT: '25000.75' },
      // The documented dialect has no list of it.
      ...(dialect === 'live'
        ? { spot: expect.objectContaining({ USDT: { available: expect.any(String), inOrders: '0' } }) }
        : {}),
    });
    expect(table.stdout.includes('spot: available')).toBe(dialect === 'live');
    expect(rehearsal).toEqual({ account: 'rehearsal', balances: { USDT: '500' } });
    expect(table.stdout).toMatch(/^USDT +25000\.75$/m);
  });

  test('tells the fees of one currency, or of all', async () => {
    const [usdt, table] = await Promise.all([
      runForJson(relay.here('fees', 'usdt')),
      runCli(relay.here('fees')),
    ]);

    expect(usdt).toEqual({
      fees: [
        {
          ticker: 'USDT',
          name: 'Tether US',
          canDeposit: true,
          canWithdraw: true,
          deposit: {
            minFlex: '0',
            maxFlex: '0',
            percentFlex: '0',
            fixed: '0',
            minAmount: '5',
            maxAmount: '0',
          },
          withdraw: {
            minFlex: '1',
            maxFlex: '50',
            percentFlex: '0.1',
            fixed: '0',
            minAmount: '5',
            maxAmount: '0',
          },
        },
      ],
    });
    expect(table.stdout).toMatch(/^USDT +Tether US +none +from 5 +0\.1% \(1 to 50\) +from 5$/m);
    expect(table.stdout).toMatch(/^BTC +Bitcoin +none +from 0\.001 +0\.0004 +0\.001 to 50$/m);
    expect(table.stdout).toMatch(/^UAH +Hryvnia +none +from 100 +closed +–$/m);
  });

  test('has no fees for an unknown currency, and says so', async () => {
    expect(await runForFailure(relay.here('fees', 'NOPE'))).toMatchObject({
      exitCode: 1,
      code: 'unknown_ticker',
    });
  });

  test('lists interest payments a page at a time', async () => {
    const [page, table, last] = await Promise.all([
      runForJson(relay.here('interest', 'fetch', '--ticker', 'BTC', '--limit', '2', '--offset', '1')),
      runCli(relay.here('interest', 'fetch', '--limit', '3')),
      runCli(relay.here('interest', 'fetch', '--offset', '10000')),
    ]);

    expect(page).toEqual({
      account: 'main',
      offset: 1,
      limit: 2,
      // 2026-03-23 16:00 and 2026-03-22 16:00 UTC
      records: [1_774_281_600_000, 1_774_195_200_000].map((paidAtMs) => ({
        planId: '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a03',
        investmentId: '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4103',
        amount: expect.stringMatching(/^0\.0000\d+$/),
        ticker: 'BTC',
        paidAtMs,
      })),
    });
    expect(table.stdout).toMatch(
      /^2026-03-25 00:00:00 +USDT +[\d.]+ +1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a01 /m,
    );
    expect(table.stdout).toContain('Payments 1 to 3; more with --offset 3.');
    expect(last.stdout).toBe('No interest payments beyond 10000.\n');
  });

  test('shows a page of one plan only', async () => {
    const planId = '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a02';
    const page = (await runForJson(relay.here('interest', 'fetch', '--plan', planId))) as {
      records: { planId: string }[];
    };

    expect(page.records).toHaveLength(83);
    expect([...new Set(page.records.map((record) => record.planId))]).toEqual([planId]);
  });

  test('refuses interest payments to accounts that are not partners', async () => {
    const failure = await runForFailure(relay.here('interest', 'fetch', '--account', 'rehearsal'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_a_partner' });
    expect(failure.action).toContain('--account');
  });

  test("is quoted when it refuses for another reason, with the catalogue's advice", async () => {
    const failure = await runForFailure(relay.here('interest', 'fetch', '--plan', 'nope'));

    expect(failure).toMatchObject({
      exitCode: 1,
      code: 'exchange_rejected',
      action: 'The exchange rejected the request: its code and messages say why.',
    });
    expect(failure.message).toContain('The selected planId is invalid.');
  });
});

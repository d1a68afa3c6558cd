import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, receive, secondKey } from './paper-client.ts';

let folder: string;
let journalPath: string;
let paper: PaperExchange;
let post: Post;

const clock = createManualClock(1_790_000_000_500);
const open = () => startPaperExchange({ port: 0, dialect: 'live', clock, walk: false, journalPath });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paper-main-account-'));
  journalPath = join(folder, 'paper.db');
  paper = await open();
  post = createPost(paper.url);
});

afterEach(async () => {
  await paper.close();
  rmSync(folder, { recursive: true });
});

const control = async (path: string, body: unknown) =>
  receive(await fetch(`${paper.url}/control/${path}`, { method: 'POST', body: JSON.stringify(body) }));
const balance = async () => (await post('/api/v4/main-account/balance')).body;
const historyPath = '/api/v4/main-account/smart/interest-payment-history';
const payments = async (fields = {}) =>
  (await post(historyPath, { limit: 3, ...fields })).body as { records: unknown[] };
const feeOf = async (ticker: string) => {
  const { body } = await post('/api/v4/main-account/fee');
  return (body as { ticker: string }[]).find((record) => record.ticker === ticker);
};

describe('a balance', () => {
  test('is the amount it is set to, and is absent when that is 0', async () => {
    const response = await control('balance', { account: 'main', ticker: 'BTC', amount: '3.50' });
    await control('balance', { account: 'main', ticker: 'UAH', amount: '7' });
    await control('balance', { account: 'main', ticker: 'ETH', amount: '0' });
    expect(response).toEqual({ status: 200, body: { account: 'main', ticker: 'BTC', amount: '3.5' } });
    expect(await balance()).toEqual({
      BTC: { main_balance: '3.5' },
      SOL: { main_balance: '0.5' },
      UAH: { main_balance: '7' },
      USDT: { main_balance: '25000.75' },
    });
    expect(paper.control.state().accounts['main']?.main).toMatchObject({ BTC: '3.5', UAH: '7' });
  });

  test.each<[unknown, string]>([
    [{ account: 'main', ticker: 'BTC', amount: '-1' }, 'must not be below 0'],
    [{ account: 'main', ticker: '', amount: '1' }, 'ticker'],
    [{ account: 'main', ticker: 'BTC', amount: 1 }, 'expected string'],
    [{ account: 'nobody', ticker: 'BTC', amount: '1' }, 'has no account "nobody"; it has main, second'],
  ])('is not set by %j', async (body, reason) => {
    expect(await control('balance', body)).toEqual({
      status: 400,
      body: { error: expect.stringContaining(reason) },
    });
    expect(await balance()).toMatchObject({ BTC: { main_balance: '1.25' } });
  });
});

describe('a transfer fee', () => {
  test('is changed in the given terms only', async () => {
    const response = await control('fee', {
      ticker: 'BTC',
      withdraw: { fixed: '0.00050' },
      canDeposit: false,
    });
    const record = {
      ticker: 'BTC',
      name: 'Bitcoin',
      deposit: { fixed: '0', minAmount: '0.001' },
      withdraw: { fixed: '0.0005', minAmount: '0.001', maxAmount: '50' },
    };
    expect(response).toMatchObject({
      status: 200,
      body: { ...record, canDeposit: false, canWithdraw: true },
    });
    expect(await feeOf('BTC')).toMatchObject({ ...record, can_deposit: false, can_withdraw: true });
    expect(await feeOf('ETH')).toMatchObject({ withdraw: { fixed: '0.002' } });
  });

  test.each<[unknown, string]>([
    [{ ticker: 'XXX' }, 'has no currency "XXX"; it has BTC, ETH, SOL, USDT, UAH'],
    [{ ticker: 'BTC', withdraw: { fixed: '-1' } }, 'must not be below 0'],
    [{ ticker: 'BTC', withdraw: { fix: '1' } }, 'fix'],
    [{ ticker: 'BTC', canDeposit: 1 }, 'canDeposit'],
  ])('is not changed by %j', async (body, reason) => {
    expect(await control('fee', body)).toEqual({
      status: 400,
      body: { error: expect.stringContaining(reason) },
    });
  });
});

describe('an interest payment', () => {
  const payment = { planId: 'p', investmentId: 'i', ticker: 'USDT', amount: '1.50' };

  test('is listed in order of time, newest first, whenever it was added', async () => {
    const response = await control('interest', { account: 'main', ...payment });
    await control('interest', { account: 'main', ...payment, timestamp: 1_789_000_000 });
    await control('interest', { account: 'main', ...payment, timestamp: 1_789_999_999, planId: 'q' });
    const added = { ...payment, amount: '1.5' };
    expect(response).toEqual({ status: 201, body: { ...added, timestamp: 1_790_000_000 } });
    expect((await payments()).records).toEqual([
      { ...added, timestamp: 1_790_000_000 },
      { ...added, planId: 'q', timestamp: 1_789_999_999 },
      { ...added, timestamp: 1_789_000_000 },
    ]);
    expect((await payments({ planId: 'q' })).records).toHaveLength(1);
  });

  test('may be older than all others', async () => {
    await control('interest', { account: 'main', ...payment, timestamp: 1 });
    expect((await payments({ offset: 250 })).records).toMatchObject([{ timestamp: 1 }]);
  });

  test.each<[unknown, string]>([
    [{ account: 'second', ...payment }, 'has no partner account "second"; it has main'],
    [{ account: 'main', ...payment, timestamp: 1.5 }, 'timestamp'],
    [{ account: 'main', ...payment, amount: '-1' }, 'must not be below 0'],
    [{ account: 'main', ...payment, planId: '' }, 'planId'],
  ])('is not added by %j', async (body, reason) => {
    expect(await control('interest', body)).toEqual({
      status: 400,
      body: { error: expect.stringContaining(reason) },
    });
  });
});

test('changes are kept across a restart', async () => {
  paper.control.setBalance('main', 'BTC', parseDecimal('9'));
  paper.control.setFee('BTC', { withdraw: { fixed: '0.0007' }, canWithdraw: false });
  const payment = { planId: 'p', investmentId: 'i', ticker: 'USDT', amount: '1', timestamp: 1_790_000_000 };
  paper.control.payInterest('main', payment);
  paper.control.payInterest('main', payment);
  await paper.close();

  paper = await open();
  post = createPost(paper.url);

  expect(await balance()).toMatchObject({ BTC: { main_balance: '9' } });
  expect(await feeOf('BTC')).toMatchObject({ withdraw: { fixed: '0.0007' }, can_withdraw: false });
  expect((await payments({ planId: 'p' })).records).toEqual([payment, payment]);
  const { feeTable, payments: paid } = paper.control.state();
  expect(feeTable['BTC']).toMatchObject({ withdraw: { fixed: '0.0007' }, canWithdraw: false });
  expect(paid['main']?.slice(0, 3)).toEqual([payment, payment, expect.objectContaining({ ticker: 'USDT' })]);
  expect(Object.keys(paid)).toEqual(['main']);
});

test('a journal with a command for an unknown account or ticker is refused with the reason', async () => {
  await paper.close();
  const database = new DatabaseSync(journalPath);
  const command = { kind: 'set_balance', atMs: 1, account: 'nobody', ticker: 'BTC', amount: '1' };
  database
    .prepare('INSERT INTO paper_journal (entry) VALUES (?)')
    .run(JSON.stringify({ prices: {}, command }));
  database.close();
  await expect(open()).rejects.toThrow('its entry 1 has no effect when replayed');
  rmSync(journalPath);
  paper = await open();
});

test('the control in the process refuses impossible values too', () => {
  expect(() => paper.control.setBalance('main', 'BTC', parseDecimal('-1'))).toThrow('must not be below 0');
  expect(() => paper.control.setFee('XXX', {})).toThrow('has no currency "XXX"');
  const payment = { planId: 'p', investmentId: 'i', ticker: 'USDT', amount: '1', timestamp: 1 };
  expect(() => paper.control.payInterest('second', payment)).toThrow('has no partner account "second"');
});

describe('the collateral balance', () => {
  const path = '/api/v4/collateral-account/balance-summary';
  const summary = async () => {
    const { body } = await post(path);
    return Object.fromEntries((body as { asset: string }[]).map(({ asset, ...rest }) => [asset, rest]));
  };

  test('includes reserved funds and position margins', async () => {
    const order = { side: 'buy', amount: '2', price: '61500', activation_price: '61000' };
    const create = (market: string) => post('/api/v4/order/collateral/stop-limit', { ...order, market });
    await create('BTC_PERP');
    expect(await summary()).toMatchObject({
      USDT: { balance: '1000000', borrow: '0', availableWithoutBorrow: '876956.95' },
      BTC: { balance: '10', availableWithoutBorrow: '10' },
    });

    paper.control.setPrice('BTC_PERP', parseDecimal('61000'));

    // The fee of 0.035 % was paid; the margin still belongs to the account.
    expect(paper.control.state().accounts['main']?.positions['BTC_PERP']).toEqual({
      positionId: 30_000_000_001,
      amount: '2',
      basePrice: '61000',
      margin: '122000',
    });
    expect(await summary()).toMatchObject({
      USDT: { balance: '999957.3', availableWithoutBorrow: '877957.3' },
    });
  });

  test('is separate for each account', async () => {
    const { body } = await post(path, {}, secondKey);
    expect(body).toMatchObject([{ asset: 'USDT', balance: '1000000' }, {}, {}, {}]);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal } from '../../lib/base/decimal.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { type Aftermath, noonMs, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;
let alerts = 0;

beforeEach(async () => {
  relay = await openAftermath();
  alerts = 0;
});

afterEach(() => relay.close());

function alertWith(members: object): string {
  alerts += 1;
  return JSON.stringify({
    ticker: 'BTCUSDT',
    id: `s${alerts}`,
    maxSlippage: '0.5%',
    ...members,
  });
}

/** The signed position of the market at the exchange. */
async function heldAmount(): Promise<string> {
  const client = await relay.services.exchangeFor('main');
  const [position] = await client.call(openPositions, { market: 'BTC_USDT' });
  return position === undefined ? '0' : formatDecimal(position.amount);
}

/** Receives the alert and executes all of its legs. @returns the entries, oldest first */
async function send(members: object): Promise<readonly Entry[]> {
  await relay.receiveAll(alertWith(members));
  const id = `s${alerts}`;
  const reduce = await relay.services.ledger.read({ account: 'main', signalId: `${id}:reduce` });
  await relay.execute(id);
  const entry = await relay.entry(id);
  return reduce === null ? [entry] : [await relay.entry(`${id}:reduce`), entry];
}

const statusesOf = (entries: readonly Entry[]) => entries.map(({ status }) => status);
const noteOf = (entry: Entry | undefined) => entry?.steps.at(-1)?.note;

function buy(quantity: string) {
  return send({ action: 'buy', orderType: 'market', quantity });
}

describe('a target', () => {
  test('opens, enlarges, reduces, turns and closes the position, and sends nothing when it is reached', async () => {
    const seen: (readonly [string, readonly string[], string])[] = [];
    for (const target of ['0.1', '0.3', '0.2', '0.2', '-0.1', 'flat', '0']) {
      const statuses = statusesOf(await send({ target }));
      seen.push([target, statuses, await heldAmount()]);
    }

    expect(seen).toEqual([
      ['0.1', ['satisfied', 'placed'], '0.1'],
      ['0.3', ['satisfied', 'placed'], '0.3'],
      ['0.2', ['placed', 'satisfied'], '0.2'],
      ['0.2', ['satisfied', 'satisfied'], '0.2'],
      ['-0.1', ['placed', 'placed'], '-0.1'],
      ['flat', ['placed'], '0'],
      ['0', ['satisfied'], '0'],
    ]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type FieldMessage,
  fillPlaceholders,
  findMessageToPaste,
  readFieldMessages,
} from '../support/field-messages.ts';
import { type MessageWorld, openMessageWorld, type Sent } from '../support/message-world.ts';

const rows = readFieldMessages();
const named = rows.map((row) => [`${row.product}: ${row.name}`, row] as const);

let world: MessageWorld;
beforeAll(async () => {
  world = await openMessageWorld();
});
afterAll(() => world.close());

const send = (row: FieldMessage, message: string) =>
  world.send(
    {
      account: row.account ?? 'main',
      price: row.price ?? '60000',
      position: row.position ?? null,
      rests: row.rests ?? [],
    },
    (nowMs) => fillPlaceholders({ ...row, message }, nowMs),
  );

/** What reached the exchange, in the words of the row's meaning. */
function effectsOf(row: FieldMessage, { effects, worths }: Sent): readonly string[] {
  return row.meaning?.some((effect) => effect.includes(' worth ')) === true ? worths : effects;
}

describe('a message of the field, as its product documents it', () => {
  test.each(named.filter(([, { here }]) => here === 'accepted'))('%s: is what it means', async (_, row) => {
    const sent = await send(row, row.message);

    expect(sent.posted).toMatchObject({ status: 202 });
    expect(effectsOf(row, sent)).toEqual(row.meaning);
  });

  test.each(named.filter(([, { here }]) => here === 'accepted with a difference'))(
    '%s: is one thing there and another one here',
    async (_, row) => {
      const sent = await send(row, row.message);

      expect(sent.posted).toMatchObject({ status: 202 });
      expect(effectsOf(row, sent)).toEqual(row.becomes);
      expect(row.becomes).not.toEqual(row.meaning);
    },
  );

  test.each(named.filter(([, { here }]) => here === 'refused with a message to paste'))(
    '%s: is refused, and the message to paste is what it means',
    async (_, row) => {
      const refused = await send(row, row.message);
      expect([refused.posted.status, refused.effects]).toEqual([400, []]);

      const sent = await send(row, findMessageToPaste(refused.posted) ?? '');

      expect(sent.posted).toMatchObject({ status: 202 });
      expect(effectsOf(row, sent)).toEqual(row.meaning);
    },
  );

  test.each(named.filter(([, { here }]) => here === 'refused with a reason'))(
    '%s: is refused, and the first remedy says what to do',
    async (_, row) => {
      const { posted, effects } = await send(row, row.message);

      expect([posted.status, effects]).toEqual([400, []]);
      const [first] = posted.body.error?.issues ?? [];
      expect(`${first?.path}: ${first?.message}; ${first?.hint}`).toContain(row.says);
      expect(findMessageToPaste(posted)).toBeNull();
    },
  );
});

describe('the messages of the field', () => {
  test('each has its source, and either a meaning or the reason why it has none', () => {
    for (const row of rows) {
      expect(row.source).toMatch(/^https?:\/\/[^/]+\/./);
      expect(row.read).toMatch(/^2026-11-2[34]$/);
      expect([row.meaning === undefined, row.untold === undefined]).toContain(false);
      expect([row.meaning === undefined, row.untold === undefined]).toContain(true);
      expect(row.meaning).not.toEqual([]);
      expect(row.says === undefined).toBe(row.here !== 'refused with a reason');
      expect(row.becomes === undefined).toBe(row.here !== 'accepted with a difference');
      expect(row.difference === undefined).toBe(row.becomes === undefined);
    }
    expect(new Set(named.map(([name]) => name)).size).toBe(rows.length);
  });

  test('what the message alone does not tell is never accepted', () => {
    const untold = rows.filter(({ meaning }) => meaning === undefined);
    expect(untold.length).toBeGreaterThan(50);
    expect(new Set(untold.map(({ here }) => here))).toEqual(new Set(['refused with a reason']));
  });

  test('text is never accepted', () => {
    const texts = rows.filter((row) => !isJson(fillPlaceholders(row, 0)));
    expect(texts.length).toBeGreaterThan(50);
    expect(texts.map(({ here }) => here)).not.toContain('accepted');
  });

  test('the tally by product', () => {
    expect(tallyByProduct()).toEqual({
      '3commas': '12: 3 accepted, 4 refused with a message to paste, 5 refused with a reason',
      alertatron: '13: 3 refused with a message to paste, 10 refused with a reason',
      'algo-trade-analytics': '2: 2 refused with a reason',
      algoway: '4: 4 refused with a reason',
      altrady: '3: 3 refused with a reason',
      autoview: '7: 5 refused with a message to paste, 2 refused with a reason',
      candefi: '3: 3 refused with a reason',
      capitalise: '1: 1 refused with a reason',
      coinrule: '1: 1 refused with a reason',
      cornix: '1: 1 refused with a reason',
      crosstrade: '9: 8 refused with a message to paste, 1 refused with a reason',
      finandy: '2: 2 refused with a reason',
      gunbot: '4: 4 refused with a reason',
      katoshi: '2: 2 refused with a reason',
      linkmytrading: '1: 1 refused with a reason',
      metaapi: '1: 1 refused with a reason',
      octobot: '12: 12 refused with a reason',
      okx: '8: 3 accepted, 1 refused with a message to paste, 4 refused with a reason',
      openalgo: '12: 4 accepted, 1 refused with a message to paste, 7 refused with a reason',
      pickmytrade: '1: 1 refused with a reason',
      pineconnector: '9: 2 refused with a message to paste, 7 refused with a reason',
      'public-bots': '35: 1 accepted, 34 refused with a reason',
      signalstack: '6: 3 accepted, 3 refused with a reason',
      solidlinq: '1: 1 refused with a reason',
      tickerly: '6: 6 accepted',
      towerflow: '1: 1 accepted with a difference',
      traderspost: '50: 19 accepted, 1 accepted with a difference, 30 refused with a reason',
      tradingview: '5: 3 refused with a message to paste, 2 refused with a reason',
      tutorials: '4: 4 accepted',
      'tv-hub': '2: 2 refused with a reason',
      wundertrading: '5: 5 refused with a reason',
      all: '223: 43 accepted, 2 accepted with a difference, 27 refused with a message to paste, 151 refused with a reason',
    });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** For each product, how many of its messages there are, and how many of each handling. */
function tallyByProduct(): Record<string, string> {
  const handlings = [
    'accepted',
    'accepted with a difference',
    'refused with a message to paste',
    'refused with a reason',
  ] as const;
  const line = (of: readonly FieldMessage[]) => {
    const counts = handlings.map((handling) => [of.filter(({ here }) => here === handling).length, handling]);
    const parts = counts.filter(([count]) => count !== 0).map(([count, handling]) => `${count} ${handling}`);
    return `${of.length}: ${parts.join(', ')}`;
  };
  const products = [...new Set(rows.map(({ product }) => product))];
  return {
    ...Object.fromEntries(
      products.map((product) => [product, line(rows.filter((row) => row.product === product))]),
    ),
    all: line(rows),
  };
}

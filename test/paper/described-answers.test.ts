import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes } from '../../lib/paper/server/routes.ts';
import {
  descriptions,
  findDifferences,
  isList,
  isWrong,
  readRules,
} from '../support/operation-descriptions.ts';
import { type DescribedPaper, type Fields, openDescribedPaper } from './described-paper.ts';

/** An operation, what differs there, and why that stays. */
type Kept = readonly [operations: readonly string[], because: string, differences: readonly string[]];

/** Where the paper exchange answers otherwise than the exchange's description says. */
const keptAnswers: readonly Kept[] = [
  [
    ['limit', 'stop-limit', 'stop-market'],
    'captures of resting orders have this word, which the list of words lacks',
    ['status is "OPEN"'],
  ],
  [
    ['stop-limit', 'stop-market'],
    'the record of all orders has the direction of a trigger, and captures of collateral stops have it, too',
    ['activated is not described', 'activationCondition is not described'],
  ],
  [
    ['create-oco'],
    'captures of resting orders have this word',
    ['stop_loss.status is "OPEN"', 'take_profit.status is "OPEN"'],
  ],
  [
    ['oco-orders'],
    'both legs are described by one record, and a take-profit has no trigger',
    [
      '[].take_profit.activated is never there',
      '[].take_profit.activation_condition is never there',
      '[].take_profit.activation_price is never there',
    ],
  ],
  [
    ['cancel-oco'],
    'both legs are described by one record, and a take-profit has no trigger',
    [
      'take_profit.activated is never there',
      'take_profit.activation_condition is never there',
      'take_profit.activation_price is never there',
    ],
  ],
  [
    ['conditional-orders'],
    'a take-profit has no trigger, a subtype is left out where there is none, and no order here is for retail',
    [
      'records[].conditionalOrder.retail is never there',
      'records[].conditionalOrderType is never there',
      'records[].takeProfit.activated is never there',
      'records[].takeProfit.activationCondition is never there',
      'records[].takeProfit.activationPrice is never there',
    ],
  ],
  [['every order'], 'no order here is for retail', ['retail is never there']],
  [
    ['collateral-summary'],
    'older documents and open clients have these fields',
    ['futuresEquity is not described', 'futuresFreeMargin is not described'],
  ],
  [['funding-history'], 'there is no funding here', ['records[] is never there']],
  [['market-fee'], 'no market has fees of its own here', ['custom_fee.*[] is never there']],
  [['close-position'], 'no body is described; older documents have an empty list', [' is []']],
  [['set-hedge-mode'], 'no body is described; older documents have the mode', [' is {"hedgeMode":true}']],
  [
    ['assets'],
    'no currency here has confirmations, providers or a greatest deposit',
    [
      '*[].confirmations is never there',
      '*[].limits.deposit.*[].max is never there',
      '*[].providers is never there',
    ],
  ],
  [
    ['public-fee'],
    'currencies here have one network and no providers',
    [
      '*[].deposit never has form 2',
      '*[].deposit.flex never has form 1',
      '*[].providers[] is never there',
      '*[].withdraw never has form 2',
    ],
  ],
];

/** What the paper exchange takes, though the description does not. */
const keptParameters: readonly Kept[] = [
  [['limit'], 'the paper exchange ignores what it does not have', ['rpi: a text']],
  [['spot-limit'], 'the paper exchange ignores what it does not have', ['bboRole: a text']],
  [
    ['spot-stop-limit'],
    'the paper exchange ignores what it does not have',
    ['bboRole: a text', 'bboRole: above 2', 'bboRole: below 1'],
  ],
  [
    ['candles'],
    'no refusal of these is published, and a chart asks within the bounds',
    ['end: a text', 'limit: a text', 'limit: above 1440', 'limit: below 1', 'start: a text'],
  ],
];

const keptOf = (rows: readonly Kept[], name: string) =>
  rows.flatMap(([names, , differences]) => (names.includes(name) ? differences : [])).sort();

const { operations } = descriptions;
let paper: DescribedPaper;

beforeAll(async () => {
  paper = await openDescribedPaper();
});

afterAll(() => paper.close());

const answersOf = (name: string) => paper.exchanged.get(name)?.map(({ answer }) => answer) ?? [];

const isOrder = (described: unknown): boolean =>
  described === '$order' || (Array.isArray(described) && isOrder(described[0]));
const names = Object.keys(operations);
const ofOrders = names.filter((name) => isOrder(operations[name]?.answers));

test('every operation that the paper exchange serves is described', () => {
  const served = routes.map(({ endpoint: { method, path } }) => `${method} ${path.live}`);

  expect(Object.values(operations).map(({ operation }) => operation)).toEqual(served);
  expect(names).toEqual(routes.map(({ endpoint }) => endpoint.name));
});

describe('the answer of the paper exchange is the one that is described:', () => {
  test.each(names)('%s', (name) => {
    const differences = findDifferences(operations[name]?.answers ?? 'null', answersOf(name));

    // One record describes orders of every type, and none has all of its fields.
    expect(ofOrders.includes(name) ? differences.filter(isWrong) : differences).toEqual(
      keptOf(keptAnswers, name),
    );
  });

  test('orders of all types together', () => {
    const orders = ofOrders.flatMap(answersOf).flat();

    expect(findDifferences('$order', orders)).toEqual(keptOf(keptAnswers, 'every order'));
  });
});

/** One request for each rule of a parameter, which breaks it. */
function breakRules(name: string): readonly (readonly [string, Fields])[] {
  const sent = paper.exchanged.get(name)?.[0]?.sent ?? {};
  return Object.entries(operations[name]?.sends ?? {}).flatMap(([field, text]) => {
    const { type, isRequired, least, most } = readRules(isList(text) ? (text[0] ?? '') : text);
    const { [field]: _, ...others } = sent;
    const wrong: readonly (readonly [string, unknown])[] = [
      ...(type === 'words' ? [['another word', isList(text) ? ['none'] : 'none'] as const] : []),
      ...(type === 'integer' || type === 'boolean' ? [['a text', 'none'] as const] : []),
      ...(Number.isFinite(least) ? [[`below ${least}`, least - 1] as const] : []),
      ...(Number.isFinite(most) ? [[`above ${most}`, most + 1] as const] : []),
    ];
    return [
      ...(isRequired ? [[`${field}: missing`, others] as const] : []),
      ...wrong.map(([rule, value]) => [`${field}: ${rule}`, { ...sent, [field]: value }] as const),
    ];
  });
}

describe('a request that breaks a described rule is refused, with a described code:', () => {
  test.each(names)('%s', async (name) => {
    const taken: string[] = [];
    for (const [rule, fields] of breakRules(name)) {
      const { status, body } = await paper.send(name, fields);
      const { code = 0 } = body as { code?: number };
      const isDescribed = operations[name]?.codes?.includes(code) ?? true;
      if (status === 200) taken.push(rule);
      else if (!isDescribed) taken.push(`${rule} has code ${code}`);
    }

    expect(taken.sort()).toEqual(keptOf(keptParameters, name));
  });
});

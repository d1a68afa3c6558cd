import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { wireNames } from '../../lib/exchange/dialect.ts';
import type { Endpoint } from '../../lib/exchange/endpoint.ts';
import {
  descriptions,
  findDifferences,
  isList,
  isWrong,
  readRules,
} from '../support/operation-descriptions.ts';

const folder = new URL('../../lib/exchange/endpoints/', import.meta.url);
const names = readdirSync(folder).map((file) => file.replace('.ts', ''));

async function load(name: string): Promise<Endpoint> {
  const [endpoint] = Object.values<Endpoint>(await import(new URL(`${name}.ts`, folder).href));
  return endpoint as Endpoint;
}

interface Shape {
  readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Shape[];
}

/** The forms of a request of the relay; most endpoints have one. */
function formsOf({ params }: Endpoint): readonly Shape[] {
  const shape = z.toJSONSchema(params, { unrepresentable: 'any', io: 'input' }) as Shape;
  return shape.anyOf ?? [shape];
}

const fixtureOf = (name: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/exchange/${name}.json`, import.meta.url), 'utf8')).live;

/** Where a fixture of the live service has more than its description: what captures and open clients show. */
const captured: Readonly<Record<string, readonly string[]>> = {
  'collateral-summary': ['futuresEquity is not described', 'futuresFreeMargin is not described'],
  'conditional-orders': ['records[].conditionalOrder.mtime is not described'],
  'ended-order': ['*[][].takerFee is not described'],
  fees: ['[].can_deposit is "1"', '[].can_withdraw is "0"', '[].providers is not described'],
  futures: [
    'result[].brackets.*[] is "10000000.5"',
    'result[].max_leverage is "50"',
    'result[].max_leverage is "many"',
  ],
  limit: ['status is "OPEN"'],
  'open-order': ['[].oto is null'],
  'open-positions': ['[].amount is null', '[].basePrice is null'],
  'stop-limit': ['activated is not described', 'activationCondition is not described', 'status is "OPEN"'],
  'stop-market': ['activated is not described', 'activationCondition is not described', 'status is "OPEN"'],
};

describe.each(names)('the endpoint %s is called as the exchange describes it:', (name) => {
  const described = descriptions.operations[name];
  const sends = described?.sends ?? {};
  const rulesOf = (field: string) => {
    const text = sends[field] ?? '';
    return readRules(isList(text) ? (text[0] ?? '') : text);
  };

  test('method and path, and no more requests than it may send', async () => {
    const { method, path, requestsPer10s } = await load(name);

    expect(`${method} ${path.live}`).toBe(described?.operation);
    expect(requestsPer10s).toBeLessThanOrEqual(described?.per10s ?? Number.POSITIVE_INFINITY);
  });

  test('it sends described parameters and words alone, and every required one', async () => {
    const endpoint = await load(name);
    const wire = wireNames('live', endpoint);
    const required = Object.keys(sends).filter((field) => rulesOf(field).isRequired);

    for (const { properties = {}, required: sent = [] } of formsOf(endpoint)) {
      const fields = Object.keys(properties).map((field) => wire[field] ?? field);
      expect(Object.keys(sends)).toEqual(expect.arrayContaining(fields));
      for (const [field, { enum: words = [] }] of Object.entries(properties))
        expect(rulesOf(wire[field] ?? field).words).toEqual(expect.arrayContaining([...words]));
      expect(sent.map((field) => wire[field] ?? field)).toEqual(expect.arrayContaining(required));
    }
  });

  test('a request and a response of the live service have the types that are described', () => {
    const { sent, response } = fixtureOf(name);
    const differences = [
      ...findDifferences(sends, [sent], 'sent'),
      ...findDifferences(described?.answers ?? 'null', [response]),
    ];

    expect(differences.filter(isWrong)).toEqual(captured[name] ?? []);
  });
});

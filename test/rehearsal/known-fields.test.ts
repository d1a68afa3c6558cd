import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { knownFields } from '../../lib/rehearsal/known-fields.ts';
import { projectRoot } from '../support/project-files.ts';

/** Names that only wrap records, or that an endpoint renames before they are compared. */
const around: ReadonlySet<string> = new Set([
  'records',
  'limit',
  'offset',
  'total',
  'BTC',
  'USDT',
  'BTC_USDT',
  'activation_price',
]);

test.each([
  ['open-order', knownFields.order],
  ['ended-order', knownFields.endedOrder],
  ['conditional-orders', knownFields.group],
  ['executed-history', knownFields.deal],
  ['open-positions', knownFields.position],
  ['collateral-balance', knownFields.collateral],
  ['collateral-summary', knownFields.summary],
  ['trade-balance', knownFields.spotBalance],
])('every field of a captured %s is known, so that the first step reports news alone', (name, known) => {
  const text = readFileSync(join(projectRoot, `test/fixtures/exchange/${name}.json`), 'utf8');
  const names = new Set<string>();
  const { live } = JSON.parse(text) as { readonly live: { readonly response: unknown } };
  JSON.parse(JSON.stringify(live.response), (key, value: unknown) => {
    if (!/^\d*$/.test(key)) names.add(key);
    return value;
  });

  expect(names.size).toBeGreaterThan(0);
  expect([...names].filter((one) => !around.has(one) && !(known as readonly string[]).includes(one))).toEqual(
    [],
  );
});

import { describe, expect, test } from '@jest/globals';
import { type Json, toJson } from '../../lib/base/json.ts';
import type { AllAccountFacts, ContestedFacts } from '../../lib/ledger/account-facts.ts';

/** What every store of facts does. */
export function describeAccountFacts(
  name: string,
  open: () => Promise<{ readonly facts: AllAccountFacts & ContestedFacts; close(): Promise<void> }>,
): void {
  describe(name, () => {
    test('keeps one fact for each account and name, the one that was written last', async () => {
      const { facts, close } = await open();

      await facts.write('main', 'positions', { atMs: 1 });
      await facts.write('main', 'positions', { atMs: 2, held: ['BTC_PERP'] });
      await facts.write('main', 'strategy of BTC_PERP', 'breakout');

      expect(await facts.read('main', 'positions')).toEqual({ atMs: 2, held: ['BTC_PERP'] });
      expect(await facts.read('main', 'strategy of BTC_PERP')).toBe('breakout');
      expect(await facts.read('main', 'books')).toBeNull();
      expect(await facts.read('other', 'positions')).toBeNull();
      await facts.write('third', 'positions', 3);
      expect(await facts.readOfAll(['third', 'other', 'main'], 'positions')).toEqual([
        3,
        null,
        { atMs: 2, held: ['BTC_PERP'] },
      ]);
      expect(await facts.readOfAll([], 'positions')).toEqual([]);
      await close();
    });

    test('replaces a fact by another only where it is still the one that was read', async () => {
      const { facts, close } = await open();
      const replace = (fact: object, was: Json) =>
        facts.replace('main', 'rehearsal on spot', toJson(fact), was);

      expect(await replace({ atMs: 1 }, { atMs: 0 })).toBe(false);
      expect(await replace({ atMs: 1 }, null)).toBe(true);
      expect(await replace({ atMs: 2 }, null)).toBe(false);
      const read = await facts.read('main', 'rehearsal on spot');
      expect(await replace({ atMs: 3, steps: { '2': 'b', '1': 'a' } }, read)).toBe(true);
      expect(await replace({ atMs: 4 }, read)).toBe(false);
      const again = await facts.read('main', 'rehearsal on spot');
      expect(again).toEqual({ atMs: 3, steps: { '1': 'a', '2': 'b' } });
      expect(await replace({ atMs: 5 }, again)).toBe(true);
      expect(await facts.read('main', 'rehearsal on spot')).toEqual({ atMs: 5 });
      await close();
    });
  });
}

import { describe, expect, test } from '@jest/globals';
import type { AllAccountFacts } from '../../lib/ledger/account-facts.ts';

/** What every store of facts does. */
export function describeAccountFacts(
  name: string,
  open: () => Promise<{ readonly facts: AllAccountFacts; close(): Promise<void> }>,
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
  });
}

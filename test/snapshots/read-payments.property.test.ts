import { describe, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readPayments } from '../../lib/snapshots/read-payments.ts';
import { runs } from '../support/runs.ts';
import { alike, countPayments, createHistory, listed } from './listed-history.ts';

const settings = { seed: 20_260_102, numRuns: runs(300) };

/** Seconds with few and with many payments, many of them alike. */
const GroupArb = fc.record({
  size: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 4 }) },
    { weight: 2, arbitrary: fc.integer({ min: 90, max: 110 }) },
    { weight: 1, arbitrary: fc.integer({ min: 190, max: 330 }) },
  ),
  kinds: fc.integer({ min: 1, max: 3 }),
});
const HistoryArb = fc
  .array(GroupArb, { minLength: 1, maxLength: 120 })
  .map((groups) =>
    groups.flatMap(({ size, kinds }, second) =>
      Array.from({ length: size }, (_, index) => listed(second + 1, `kind-${index % kinds}`)),
    ),
  );
/** The number of payments that arrive before each response, in the newest second or in newer ones. */
const ArrivalsArb = fc.array(
  fc.record({ count: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 130 })), isNewer: fc.boolean() }),
  { maxLength: 12 },
);

describe('reading a history', () => {
  test('finds every payment, each once, while others arrive', async () => {
    await fc.assert(
      fc.asyncProperty(HistoryArb, ArrivalsArb, async (payments, arrivals) => {
        const history = createHistory(payments, (self, asked) => {
          const { count, isNewer } = arrivals[asked] ?? { count: 0, isNewer: false };
          const newest = (self.payments[0]?.paidAtMs ?? 0) / 1000;
          self.add(...alike(count, isNewer ? newest + 1 : newest, 'kind-0'));
        });
        const before = countPayments(payments);

        const found = countPayments((await readPayments(history.ask, 0)).payments);

        const after = countPayments(history.payments);
        // Payments from before the reading must be found; those that arrive during it may be; no others are.
        const isEverythingThere = Object.entries(before).every(
          ([name, count]) => (found[name] ?? 0) >= count,
        );
        const isNothingTooMuch = Object.entries(found).every(([name, count]) => count <= (after[name] ?? 0));
        return isEverythingThere && isNothingTooMuch;
      }),
      settings,
    );
  });

  test('back to a given time finds every payment after that time', async () => {
    await fc.assert(
      fc.asyncProperty(HistoryArb, fc.integer({ min: 0, max: 120 }), async (payments, since) => {
        const isAfter = ({ paidAtMs }: { paidAtMs: number }) => paidAtMs > since * 1000;
        const reading = await readPayments(createHistory(payments).ask, since * 1000);
        const found = countPayments(reading.payments.filter(isAfter));
        const wanted = countPayments(payments.filter(isAfter));
        return (
          reading.isComplete &&
          Object.keys(wanted).length === Object.keys(found).length &&
          Object.entries(wanted).every(([name, count]) => found[name] === count)
        );
      }),
      settings,
    );
  });
});

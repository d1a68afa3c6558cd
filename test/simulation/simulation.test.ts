import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import { orderKindNames } from '../../lib/model/order.ts';
import { proofShare, takeShare, takeShareOfFew } from '../support/share.ts';
import { huntsOf } from './mutants.ts';
import { reproOf } from './report.ts';
import { addTally, createTally, type Finding, type Range, tallyRange } from './tally.ts';
import { runJobs } from './worker-pool.ts';

const mainPath = fileURLToPath(new URL('./main.ts', import.meta.url));

function rangeOf(fromSeed: number, toSeed: number, changes: Partial<Range> = {}): Range {
  return { fromSeed, toSeed, dialects, signals: 12, mutant: null, kind: null, ...changes };
}

/** Runs the command in a process of its own. */
function runCommand(args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout } = spawnSync(process.execPath, [mainPath, ...args], { encoding: 'utf8' });
  return { status, text: stdout };
}

const everyFault: readonly string[] = [
  'clocks: set back',
  'exchange: back',
  'exchange: down',
  'exchange: market list back',
  'exchange: market list down',
  'exchange: price runs away',
  'hazard: alert_doubled',
  'hazard: alert_late',
  'hazard: alert_lost',
  'hazard: balance_lag',
  'hazard: clock_set_back',
  'hazard: clock_step',
  'hazard: delivered_twice',
  'hazard: frozen',
  'hazard: gateway_502',
  'hazard: ioc_refused',
  'hazard: killed',
  'hazard: list_lag',
  'hazard: message_lost',
  'hazard: no_identity',
  'hazard: odd_record',
  'hazard: odd_word',
  'hazard: one_id',
  'hazard: out_of_time',
  'hazard: response_lost',
  'hazard: secret_in_alert',
  'hazard: sender_gives_up',
  'hazard: surplus_response',
  'ledger: old orders',
  'operator: key rotation',
  'operator: pause',
  'operator: redrive',
  'operator: resolve by cancel',
  'operator: resolve by look',
  'operator: restart',
  'operator: resume',
  'operator: token rotation',
  'owner: cancel by hand',
  'owner: closes by hand',
  'owner: enlarges by hand',
  'owner: opens the other side by hand',
  'owner: order by hand',
  'owner: position closed',
  'owner: reduces by hand',
  'owner: stop by hand',
  'owner: stop by hand on spot',
  'owner: stop-loss cancelled',
  'owner: take-profit cancelled',
  'owner: trade before a close',
  'owner: trade by hand',
  'owner: trades on spot by hand',
  'price: drift',
  'price: fall through a stop-loss',
  'price: jump',
  'price: part of a buy',
  'price: return',
  'sender: broken connection',
  'sender: resend',
  'store: crash_after',
  'store: crash_before',
  'store: fail_after',
  'store: fail_before',
  'store: slow',
  'stores: back',
  'stores: down',
  'wire: arrives_late',
  'wire: contradicts_after',
  'wire: crash_after',
  'wire: crash_before',
  'wire: error_after',
  'wire: error_before',
  'wire: garbage_after',
  'wire: gateway_page_after',
  'wire: hung',
  'wire: id_used_after',
  'wire: lost_after',
  'wire: lost_before',
  'wire: nonce_429',
  'wire: nonce_429_after',
  'wire: rate_429',
  'wire: rate_429_after',
  'wire: refusal',
  'wire: refused',
  'wire: slow',
];
const everyEnd = [
  'cancelled',
  'denied',
  'dry_run',
  'invalid',
  'not_placed',
  'not_sent',
  'placed',
  'rejected',
  'satisfied',
  'unknown',
];

test('under every kind of fault the relay breaks no invariant, in both dialects', async () => {
  const ranges = [rangeOf(387, 426), rangeOf(283, 322), rangeOf(490, 490)];

  const total = createTally();
  for (const tally of await runJobs(ranges.map((range) => ({ range, endsAtFinding: false }))))
    addTally(total, tally);

  expect(total.findings).toEqual([]);
  expect(total.runs).toBe(162);
  expect([...total.faults.keys()].sort()).toEqual(everyFault);
  expect([...total.statuses.keys()].sort()).toEqual(everyEnd);
  expect([...total.kinds.keys()].sort()).toEqual([...orderKindNames].sort());
  expect([...total.grounds.keys()].sort()).toEqual(['futures', 'margin', 'spot']);
});

const kinds = takeShareOfFew(orderKindNames, proofShare);
test.each([...kinds])('with %s orders only the relay breaks no invariant', async (kind) => {
  const changes = { kind, dialects: ['live'] } as const;
  const halves = [rangeOf(1, 20, changes), rangeOf(21, 40, changes)];

  const total = createTally();
  for (const tally of await runJobs(halves.map((range) => ({ range, endsAtFinding: false }))))
    addTally(total, tally);

  expect(total.findings).toEqual([]);
  // Beside the strategies, which trade at market, limit orders rest.
  expect([...total.kinds.keys()]).toEqual(kind === 'market' ? [kind, 'limit'] : [kind]);
  expect([...total.grounds.keys()].sort()).toEqual(['futures', 'margin', 'spot']);
  expect(total.orders).toBeGreaterThan(30);
});

describe('every broken variant of the relay', () => {
  test('is caught within its stated number of seeds', async () => {
    const all = huntsOf(null, 12);
    const hunts = takeShare(all, proofShare);

    const tallies = await runJobs(hunts.map(({ job }) => job));

    const survivors = hunts.filter((_, place) => tallies[place]?.findings.length === 0);
    expect(survivors.map(({ mutant }) => mutant.name)).toEqual([]);
    expect(tallies.flatMap(({ unmutated }) => unmutated)).toEqual([]);
    expect(all).toHaveLength(132);
    // Hundreds of runs, on however slow a machine.
  }, 600_000);

  test('is looked for with limit orders only, but for those that break nothing there', () => {
    const names = (kind: 'limit' | null) => huntsOf(kind, 12).map(({ mutant }) => mutant.name);

    expect(names(null).filter((name) => !names('limit').includes(name))).toEqual([
      // Without positions no exit waits.
      'withdrawn-exits',
      // Only the written API, which has no limit orders, does not list the open orders.
      'forgotten-orders',
      // The limit price of a limit order is not compared with another price.
      'no-collar',
      // Hardly one is cut to a position.
      'cut-is-other',
      // Only market orders are priced on the order book, and must not rest.
      'old-prices',
      'unguarded-market',
      'wide-bound',
      'resting-market',
      // Position actions make market orders only.
      'close-opens',
      'turn-at-once',
      'hasty-reverse',
      'stale-position',
      'lagging-position',
      'double-leg',
      'unpresumed',
      'unread-position',
      'second-strategy',
      'unknown-ignored',
      'counted-waits',
      'outliving-stops',
      'entries-left-resting',
      'rest-untried',
      'silent-rest',
      'bound-anew',
      // Nor are positions protected in such runs.
      'gap-before-stop',
      'oversized-protection',
      'opening-protection',
      'hasty-protection',
      'overruled-owner',
      'foreign-cancelled',
      'outlived-position',
      'second-protection',
      'restless-protection',
      'whole-shares',
      'share-sold-again',
      'stop-moved-back',
      'best-price-forgotten',
      'growth-forgotten',
      'best-price-kept',
      'exits-not-reduced',
      'spot-too-little',
      'wrong-entry-price',
      'triggered-counts',
      'silent-leftovers',
      'forgotten-wish',
      'hidden-forgotten',
      'opening-correction',
      'whole-correction',
      'large-correction',
      'overlooked-turn',
      'silent-correction',
      'silent-gap',
      // Few limit orders sell at once what a stop-loss of another strategy holds.
      'sale-of-anybody',
      'buys-of-nobody',
      'sales-against-any',
      'own-denied',
      // The report is judged in runs with all kinds of orders.
      'others-never-sold',
      // Runs with one kind of order have no limits of risk.
      'no-max-position',
      'position-alone',
      'no-open-notional',
      'no-daily-loss',
      'losses-forgotten',
      'reductions-forgotten',
      'ended-forgotten',
      'no-cool-down',
      'floating-forgotten',
      'no-windows',
      // By hand, only the markets of position actions are traded.
      'deals-by-hand-dropped',
      'deals-by-hand-kept',
      'side-by-hand-guessed',
      'spot-by-hand-as-margin',
      'unnamed-error',
      'report-of-signals',
    ]);
  });

  test('is reported with the command that repeats it', async () => {
    const range = rangeOf(1, 20, { dialects: ['live'], mutant: 'resend-on-timeout' });
    const { findings } = await tallyRange(range, (tally) => tally.findings.length > 0);
    const [finding] = findings as [Finding];

    const repro = reproOf(range, finding);
    const again = runCommand(repro.split(' -- ')[1]?.split(' ') ?? []);

    expect(again.status).toBe(1);
    expect(again.text).toContain(`${finding.invariant}: ${finding.text}`);
    expect(again.text).toContain(repro);
  });
});

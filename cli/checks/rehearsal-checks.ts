import { rehearsalSteps } from '../../lib/account/rehearsed.ts';
import { longestOrderLagMs, longestPositionLagMs } from '../../lib/exchange/lag.ts';
import type { Account, TradingGround } from '../../lib/model/account.ts';
import { type RehearsalNotes, readNotes } from '../../lib/rehearsal/rehearsal-book.ts';
import { commandFor, type Session } from '../session/session.ts';
import { describeFound, passedSteps } from '../show/describe-rehearsal.ts';
import { type Check, fail, pass, warn } from './check.ts';

/**
 * What rehearsals found out, for each account and each place where it trades. On the paper exchange nothing has to be
 * rehearsed: there only what was rehearsed is told.
 */
export async function checkRehearsals(session: Session): Promise<readonly Check[]> {
  const location = session.locateExchange();
  if (location.dialect !== 'live') return [];
  const isPaper = location.kind === 'paper';
  const facts = session.openFacts();
  const checks: Check[] = [];
  for (const account of Object.values(session.settings.accounts))
    for (const [ground, market] of groundsOf(account)) {
      const notes = await readNotes(facts, account.name, ground);
      const command = commandFor(session.target, `rehearse ${account.name} ${market}`);
      const check = judgeRehearsal(`rehearsal of ${account.name} on ${ground}`, notes, command);
      if (!isPaper || check.verdict === 'fail' || passedSteps(notes.rehearsed).length > 0) checks.push(check);
    }
  return checks;
}

/** Each trading ground of the account, with its first market there. */
function groundsOf({ markets }: Account): ReadonlyMap<TradingGround, string> {
  const found = new Map<TradingGround, string>();
  for (const [market, { tradesOn }] of Object.entries(markets))
    if (!found.has(tradesOn)) found.set(tradesOn, market);
  return found;
}

/** @param command rehearses again */
function judgeRehearsal(name: string, { rehearsed, sent, stopped }: RehearsalNotes, command: string): Check {
  if (sent.length > 0)
    return fail(
      name,
      `a rehearsal has ended early, and something of it may be left in ${[...new Set(sent.map(({ market }) => market))].join(', ')}`,
      `\`${command}\` cleans up first.`,
    );
  if (stopped !== null)
    return fail(
      name,
      `step ${stopped.step} did not pass: ${stopped.reason}`,
      `Do not trade live before it has passed: ${command}`,
    );
  const passed = passedSteps(rehearsed);
  const missing = rehearsalSteps.filter((step) => rehearsed[step] === undefined);
  if (passed.length === 0)
    return warn(
      name,
      'never: what the documents of the exchange leave open is not known for this account',
      `\`${command}\` finds it out, step by step.`,
    );
  const told = passed.map(({ step, found }) => `${step}: ${describeFound(step, found)}`).join('. ');
  if (missing.length > 0)
    return warn(name, `${told}. Not passed yet: ${missing.join(', ')}`, `Go on with \`${command}\`.`);
  const slow = slowLists(rehearsed);
  if (slow !== null) return warn(name, `${told}. ${slow}`, 'Rehearse again at another time with --again.');
  return pass(name, told);
}

/** Lists that lagged further than the relay takes for possible. */
function slowLists(rehearsed: RehearsalNotes['rehearsed']): string | null {
  const orderMs = Number(rehearsed['2']?.found['listedAfterMs'] ?? 0);
  const positionMs = Number(rehearsed['6']?.found['positionAfterMs'] ?? 0);
  if (orderMs > longestOrderLagMs) return 'The list of open orders lags further than the relay assumes';
  return positionMs > longestPositionLagMs
    ? 'The list of positions lags further than the relay assumes'
    : null;
}

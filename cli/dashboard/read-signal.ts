import type { Entry } from '../../lib/ledger/entry.ts';
import { listFills } from '../../lib/ledger/executions.ts';
import type { Fill } from '../../lib/model/execution.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { findEntry } from '../read/find-entry.ts';
import { readSignalEndings } from '../read/read-signal-endings.ts';
import type { Session } from '../session/session.ts';
import { describeEnding } from '../show/describe-ending.ts';
import { describeSignal } from '../show/describe-signal.ts';
import type { ApiContext } from './api-context.ts';

/** What a person can do about an outcome. */
const advice: Partial<Readonly<Record<Status, string>>> = {
  unknown:
    'It may have an order at the exchange. The relay looks it up again by itself; you can settle it here.',
  denied:
    'The last step names the rule and both values. Change the alert or relay.config.ts; if the order should still go, send it again.',
  dry_run:
    'The account only rehearses: its mode stands in relay.config.ts. The last step has the request that would have gone.',
  rejected:
    'The exchange gave its reason in the last step. Correct that first; then send it again if it should still go.',
  not_sent:
    'Nothing reached the exchange, and the relay does not try again. Send it again if it should still go.',
  not_placed: 'There is no order. Send it again if it should still go.',
  invalid:
    'Correct the message with the alert builder, and put it into the alert in TradingView, which keeps the old one.',
};

/** Fills are looked for in this many at most. */
const mostFills = 5_000;

/** What `npx relay signal` says, and what a page can show beside it: the sentence on the signal, its result, each fill. */
export async function readWholeSignal(
  context: ApiContext,
  id: string,
  account: string | undefined,
): Promise<object> {
  const { session, ask } = context;
  const document = await ask({ command: 'signal', args: [id], options: { account } });
  const accounts = account === undefined ? Object.keys(session.settings.accounts) : [account];
  const { entry } = await findEntry(session.openLedger(), id, accounts);
  const [ending = null] = await readSignalEndings(session, [entry]);
  const result = ending === null ? null : describeEnding(ending);
  return {
    ...Object(document),
    says: entry.signal === null ? null : describeSignal(entry.signal),
    result: result === null || typeof result === 'string' ? result : result.text,
    advice: advice[entry.status] ?? null,
    fills: await readFills(session, entry),
  };
}

async function readFills(
  session: Session,
  { account, signalId, createdAtMs, execution }: Entry,
): Promise<readonly Fill[]> {
  if (execution === null) return [];
  const fills: Fill[] = [];
  let lookedAt = 0;
  for await (const fill of listFills(
    session.openExecutions(),
    account,
    createdAtMs - 60_000,
    Number.MAX_SAFE_INTEGER,
  )) {
    if (fill.signalId === signalId) fills.push(fill);
    lookedAt += 1;
    if (lookedAt >= mostFills) break;
  }
  return fills;
}

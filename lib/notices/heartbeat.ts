import { type PositionsReading, parseReading } from '../account/read-positions.ts';
import { formatDecimal } from '../base/decimal.ts';
import { dayMs, momentOf, offsetAt } from '../base/time-zone.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import { type Executions, listFills } from '../ledger/executions.ts';
import { type Ledger, listEntries } from '../ledger/ledger.ts';
import type { NoticeSettings } from './notice-settings.ts';

export interface HeartbeatServices {
  readonly ledger: Pick<Ledger, 'list' | 'readPause'>;
  readonly executions: Pick<Executions, 'listFills'>;
  readonly facts: Pick<AccountFacts, 'read'>;
}

/** Counting stops here: the heartbeat of a flooded relay must not read for minutes. */
const mostCounted = 1_000;

/**
 * What an account did in the 24 hours before a time, and what it holds: one sentence each, the figures first.
 *
 * @throws RelayError `store_unavailable`
 */
export async function describeDay(
  { ledger, executions, facts }: HeartbeatServices,
  account: string,
  untilMs: number,
): Promise<readonly string[]> {
  const [signals, fills, unknown, pause, positions] = await Promise.all([
    countOf(listEntries(ledger, { account, startMs: untilMs - dayMs })),
    countOf(listFills(executions, account, untilMs - dayMs, untilMs)),
    ledger.list({ account, status: 'unknown', limit: mostCounted }),
    ledger.readPause(account),
    facts.read(account, 'positions'),
  ]);
  return [
    `${figure(signals)} signals, ${figure(fills)} fills, ${figure(unknown.entries.length)} unknown`,
    ...(pause === null ? [] : [`paused: ${pause.reason}`]),
    describeHeld(parseReading(positions)),
  ];
}

function figure(count: number): string {
  return count >= mostCounted ? `${mostCounted} or more` : String(count);
}

async function countOf(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) {
    count += 1;
    if (count >= mostCounted) break;
  }
  return count;
}

/** As the watch of positions read it last: the heartbeat asks the exchange nothing. */
function describeHeld(reading: PositionsReading | null): string {
  if (reading === null) return 'no position was read';
  const held = reading.positions.map(
    ({ market, amount, positionSide }) =>
      `${formatDecimal(amount)} ${market}${positionSide === 'BOTH' ? '' : ` ${positionSide}`}`,
  );
  const atText = new Date(reading.readAtMs).toISOString().slice(0, 16).replace('T', ' ');
  return `${held.length === 0 ? 'no position' : `holds ${held.join(', ')}`}, as read at ${atText} UTC`;
}

/** The day whose heartbeat is due, `YYYY-MM-DD` in the time zone: that of today, or of yesterday before its time has come. */
export function dueDay({ heartbeatAt, timeZone }: NoticeSettings, nowMs: number): string {
  const [hours = 0, minutes = 0] = heartbeatAt.split(':').map(Number);
  const wallMs = nowMs + offsetAt(nowMs, timeZone);
  const midnightMs = wallMs - (((wallMs % dayMs) + dayMs) % dayMs);
  const dueMs = momentOf(midnightMs + (hours * 60 + minutes) * 60_000, timeZone);
  const day = dueMs <= nowMs ? midnightMs : midnightMs - dayMs;
  return new Date(day).toISOString().slice(0, 10);
}

import { systemClock } from '../../lib/base/clock.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { PaperExchange } from '../../lib/paper/server/server.ts';
import { resolveSignal } from '../../lib/relay/settle/resolve-signal.ts';
import { openRecords, type RelayRecords } from './facts.ts';
import { chaosConfig, exchangeTimeoutMs, guardedAccount } from './relay-config.ts';

/** No request is under way that long. */
const longestRequestMs = 3 * exchangeTimeoutMs;

/**
 * Does what an alarm about an unknown outcome asks for: looks at the exchange, and settles each signal of the guarded account
 * whose order is not there. The relay itself is sure of that only after five minutes, and protects nothing in the market until
 * then. Orders that are there it finds itself.
 *
 * @returns how many it settled
 */
export async function resolveAbsent(folder: DataFolder, paper: PaperExchange): Promise<number> {
  const records = openRecords(folder);
  try {
    return await resolveEach(records, paper);
  } catch (error) {
    // The next turn tries again.
    if (error instanceof RelayError && error.row.retryMayHelp) return 0;
    throw error;
  } finally {
    records.close();
  }
}

async function resolveEach(records: RelayRecords, paper: PaperExchange): Promise<number> {
  const query = { status: 'unknown', account: guardedAccount, limit: 100 } as const;
  const { entries } = await records.ledger.list(query);
  const old = entries.filter(({ updatedAtMs }) => Date.now() - updatedAtMs > longestRequestMs);
  if (old.length === 0) return 0;
  const names = new Set(paper.control.state().orders.map(({ clientOrderId }) => clientOrderId));
  const absent = old.filter(({ clientOrderId }) => clientOrderId !== null && !names.has(clientOrderId));
  const { settings } = parseConfig(chaosConfig(paper.url));
  for (const entry of absent) await resolve(records, settings, entry);
  return absent.length;
}

const silence = () => undefined;

async function resolve(
  { ledger, executions, facts }: RelayRecords,
  settings: Settings,
  entry: Entry,
): Promise<void> {
  const services = {
    clock: systemClock,
    log: { info: silence, warn: silence, error: silence },
    alarms: { raise: silence },
    ledger,
    settings,
    executions,
    facts,
    exchangeTimeoutMs,
    exchangeFor: () => Promise.reject(new Error('what was seen is stored without asking the exchange')),
  };
  const saw = { kind: 'saw', status: 'not_placed', note: 'it is in no list', orderId: null } as const;
  await resolveSignal(services, entry, saw, 'operator', { timeoutMs: exchangeTimeoutMs });
}

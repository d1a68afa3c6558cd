import { RelayError } from '../lib/base/errors.ts';
import { type Dialect, dialects } from '../lib/exchange/dialect.ts';
import { conditionalOrders } from '../lib/exchange/endpoints/conditional-orders.ts';
import { mainBalance } from '../lib/exchange/endpoints/main-balance.ts';
import { ping } from '../lib/exchange/endpoints/ping.ts';
import { serverTime } from '../lib/exchange/endpoints/server-time.ts';
import { ExchangeError } from '../lib/exchange/errors.ts';
import type { Account } from '../lib/model/account.ts';
import { type Check, fail, pass, warn } from './check.ts';
import { CommandFailure } from './failure.ts';
import type { Session } from './session.ts';

const timeoutMs = 5_000;
/** The exchange takes a request whose time is this far from its own clock. */
const nonceWindowMs = 5_000;
/** It tells its time in whole seconds, so half of one is the closest that can be known. */
const clockStepMs = 1_000;

/** Everything about the exchange that has to be right, read-only. */
export async function checkExchange(session: Session): Promise<readonly Check[]> {
  const reachable = await checkReachable(session);
  if (reachable.verdict === 'fail') return [reachable];
  const accounts = Object.values(session.settings.accounts);
  return [
    reachable,
    await checkClock(session),
    await checkDialect(session, accounts),
    ...(await Promise.all(accounts.map((account) => checkKey(session, account)))),
  ];
}

async function checkReachable(session: Session): Promise<Check> {
  const { url } = session.locateExchange();
  try {
    const client = await session.openExchange(null);
    const startedAtMs = session.clock.nowMs();
    await client.call(ping, {}, { timeoutMs });
    return pass('exchange', `${url} answers in ${session.clock.nowMs() - startedAtMs} ms`);
  } catch (error) {
    return fail('exchange', describe(error), `Check the exchange's address and the network.`);
  }
}

async function checkClock(session: Session): Promise<Check> {
  const name = 'clock';
  try {
    const client = await session.openExchange(null);
    const askedAtMs = session.clock.nowMs();
    const { nowMs } = await client.call(serverTime, {}, { timeoutMs });
    const ownMs = (askedAtMs + session.clock.nowMs()) / 2;
    return judgeClock(ownMs - (nowMs + clockStepMs / 2));
  } catch (error) {
    return warn(name, `the exchange does not tell its time: ${describe(error)}`, 'Try again later.');
  }
}

/** @param offsetMs how far the clock of this machine is ahead of the exchange's */
export function judgeClock(offsetMs: number): Check {
  const offset = Math.abs(offsetMs);
  const direction = offsetMs > 0 ? 'ahead of' : 'behind';
  if (offset <= clockStepMs) return pass('clock', "this machine's agrees with the exchange's");
  const found = `this machine's is ${(offset / 1000).toFixed(1)} s ${direction} the exchange's`;
  const advice = 'Set the clock of this machine, best by NTP.';
  return (offset < nonceWindowMs - clockStepMs ? warn : fail)('clock', found, advice);
}

async function checkKey(session: Session, account: Account): Promise<Check> {
  const name = `key of ${account.name}`;
  try {
    const client = await session.openExchange(account);
    await client.call(mainBalance, {}, { timeoutMs });
    return pass(name, 'the exchange takes it');
  } catch (error) {
    return fail(name, describe(error), `Store it again: \`keys set ${account.name}\`.`);
  }
}

/** The two dialects have another path for the same question; only the one that is spoken leads anywhere. */
async function checkDialect(session: Session, accounts: readonly Account[]): Promise<Check> {
  const name = 'dialect';
  const configured = session.locateExchange().dialect;
  const spoken = new Set<Dialect>();
  for (const account of accounts) {
    for (const dialect of dialects) if (await speaks(session, account, dialect)) spoken.add(dialect);
    if (spoken.size > 0) break;
  }
  const [only] = spoken;
  if (only === undefined || spoken.size > 1)
    return warn(
      name,
      `exchange.dialect says "${configured}"; which one the exchange speaks could not be told`,
      'Store a key that works.',
    );
  return only === configured
    ? pass(name, `the exchange speaks "${configured}", as exchange.dialect says`)
    : fail(
        name,
        `the exchange speaks "${only}", but exchange.dialect says "${configured}"`,
        `Set exchange.dialect to '${only}'.`,
      );
}

async function speaks(session: Session, account: Account, dialect: Dialect): Promise<boolean> {
  try {
    const client = await session.openExchange(account, dialect);
    await client.call(conditionalOrders, { limit: 1, offset: 0 }, { timeoutMs });
    return true;
  } catch {
    return false;
  }
}

function describe(error: unknown): string {
  if (error instanceof ExchangeError || error instanceof RelayError || error instanceof CommandFailure)
    return error.message;
  throw error;
}

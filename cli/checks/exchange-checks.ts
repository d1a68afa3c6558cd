import { RelayError } from '../../lib/base/errors.ts';
import { allowedOffsetMs, clockStepMs, readClockOffset } from '../../lib/exchange/clock-offset.ts';
import { type Dialect, dialects } from '../../lib/exchange/dialect.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { markets } from '../../lib/exchange/endpoints/markets.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { platformStatus } from '../../lib/exchange/endpoints/platform-status.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { listLimitNotes } from '../../lib/host/config.ts';
import type { Account } from '../../lib/model/account.ts';
import { describeRegions } from '../../lib/model/region.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { describePaperKey } from '../../lib/paper/engine/accounts.ts';
import { CommandFailure } from '../failure.ts';
import { describeExchange, type ExchangeLocation, type Session } from '../session/session.ts';
import { type Check, fail, pass, startAdvice, warn } from './check.ts';
import { checkMarketOrders, checkMarkets } from './market-checks.ts';

const timeoutMs = 5_000;

/** All checks of the exchange. They change nothing. */
export async function checkExchange(session: Session): Promise<readonly Check[]> {
  const reachable = await checkReachable(session);
  const location = session.locateExchange();
  const { settings } = session;
  const configured = [
    ...reportRegions(settings),
    ...checkModes(settings, location),
    ...checkMarketOrders(settings, location.dialect),
    ...warnOfLimits(settings),
  ];
  if (reachable.verdict === 'fail') return [reachable, ...configured];
  const accounts = Object.values(settings.accounts);
  const keys = await Promise.all(accounts.map((account) => checkKey(session, account)));
  const isAnyKeyGood = keys.some(({ verdict }) => verdict === 'ok');
  return [
    reachable,
    ...configured,
    await checkClock(session),
    ...(await checkMaintenance(session)),
    ...reportIdleKeys(location),
    await checkDialect(session, accounts, isAnyKeyGood),
    await checkListedMarkets(session),
    ...keys,
  ];
}

async function checkReachable(session: Session): Promise<Check> {
  const name = 'exchange';
  const location = session.locateExchange();
  const { target } = session;
  try {
    const client = await session.openExchange(null);
    const startedAtMs = session.clock.nowMs();
    await client.call(ping, {}, { timeoutMs });
    return pass(name, `responds in ${session.clock.nowMs() - startedAtMs} ms; ${describeExchange(location)}`);
  } catch (error) {
    return target.kind === 'local' && location.kind === 'paper'
      ? fail(
          name,
          `the paper exchange does not respond: ${describe(error)}`,
          `It starts and stops with the relay. ${startAdvice(target.data, false)}`,
        )
      : fail(name, describe(error), 'Check exchange.address in relay.config.ts and the network.');
  }
}

/** What the region of an account leaves to it. A configuration that asks for more does not load. */
export function reportRegions({ accounts }: Settings): readonly Check[] {
  return describeRegions(accounts).map((note) => pass('region', note));
}

/** Warns of what the limits of an account leave out. */
export function warnOfLimits(settings: Settings): readonly Check[] {
  return listLimitNotes(settings).map((note) =>
    warn('limits', note, 'Keep no more in the trade balance than may be at stake there.'),
  );
}

/** Warns that an account in paper mode sends no orders where there is no paper exchange. */
export function checkModes(
  { accounts }: Settings,
  { kind }: Pick<ExchangeLocation, 'kind'>,
): readonly Check[] {
  const names = Object.values(accounts).flatMap(({ name, mode }) => (mode === 'paper' ? [name] : []));
  if (kind === 'paper' || names.length === 0) return [];
  return [
    warn(
      'modes',
      `${names.join(', ')} in paper mode: no order is sent, every signal ends as dry_run`,
      "To trade real money, set mode to 'live' in relay.config.ts, then deploy, or start again with `--live`.",
    ),
  ];
}

/** What ends a key without a word, and what of the relay prevents it. */
function reportIdleKeys({ kind }: Pick<ExchangeLocation, 'kind'>): readonly Check[] {
  if (kind === 'paper') return [];
  return [
    pass(
      'idle keys',
      'the exchange switches off a key without an address list after 14 days without a request; while the relay runs, the snapshots use each key, and the watch of a live account does once an hour',
    ),
  ];
}

async function checkListedMarkets(session: Session): Promise<Check> {
  try {
    const client = await session.openExchange(null);
    return checkMarkets(session.settings, await client.call(markets, {}, { timeoutMs }));
  } catch (error) {
    return warn('markets', `the list of markets cannot be read: ${describe(error)}`, 'Try again later.');
  }
}

async function checkClock(session: Session): Promise<Check> {
  const name = 'clock';
  try {
    const client = await session.openExchange(null);
    return judgeClock(await readClockOffset(client, session.clock, { timeoutMs }));
  } catch (error) {
    return warn(
      name,
      `the server time of the exchange cannot be read: ${describe(error)}`,
      'Try again later.',
    );
  }
}

/** Only the live service tells it. */
async function checkMaintenance(session: Session): Promise<readonly Check[]> {
  const name = 'maintenance';
  try {
    const client = await session.openExchange(null);
    const { isOperational, word } = await client.call(platformStatus, {}, { timeoutMs });
    return [
      isOperational
        ? pass(name, 'the exchange announces none')
        : warn(name, `the exchange says "${word}"`, 'Pause until it is over, and look at what is open.'),
    ];
  } catch {
    return [];
  }
}

/** @param offsetMs how far this machine's clock is ahead of the exchange's clock */
export function judgeClock(offsetMs: number): Check {
  const offset = Math.abs(offsetMs);
  const direction = offsetMs > 0 ? 'ahead of' : 'behind';
  if (offset <= clockStepMs) return pass('clock', "this machine's clock agrees with the exchange's");
  const found = `this machine's clock is ${(offset / 1000).toFixed(1)} s ${direction} the exchange's`;
  const advice = 'Correct the clock of this machine, preferably with NTP.';
  return (offset < allowedOffsetMs(offsetMs) ? warn : fail)('clock', found, advice);
}

async function checkKey(session: Session, account: Account): Promise<Check> {
  const name = `key of ${account.name}`;
  try {
    const client = await session.openExchange(account);
    await client.call(mainBalance, {}, { timeoutMs });
    return pass(name, 'the exchange accepts it');
  } catch (error) {
    return judgeKey(name, account, error, session.locateExchange());
  }
}

/** Advises storing another key only if the exchange refused the key itself. */
export function judgeKey(
  name: string,
  account: Pick<Account, 'name'>,
  error: unknown,
  { kind }: Pick<ExchangeLocation, 'kind'>,
): Check {
  const found = describe(error);
  const set = `\`keys set ${account.name}\``;
  if (error instanceof RelayError && error.code === 'secrets_missing')
    return fail(name, found, `Store one: ${set}.`);
  const status =
    error instanceof ExchangeError && error.failure.kind === 'rejected' ? error.failure.httpStatus : null;
  if (status === 401)
    return fail(
      name,
      found,
      kind === 'paper'
        ? `The paper exchange accepts only its own keys. For this account that is ${describePaperKey(account.name)}: store it with ${set}.`
        : `The exchange does not know this key, or its secret is wrong: store the right pair with ${set}.`,
    );
  if (status === 403)
    return fail(
      name,
      found,
      'The exchange knows this key but does not permit the request. At the exchange, enable the key, its permissions and the addresses it may be used from. You need not store it again.',
    );
  return warn(
    name,
    `not checked: ${found}`,
    'Try again later. The exchange did not refuse the key: do not change it.',
  );
}

/**
 * The dialects use different paths for the same request, and the exchange responds only on those of its own
 * dialect.
 */
async function checkDialect(
  session: Session,
  accounts: readonly Account[],
  isAnyKeyGood: boolean,
): Promise<Check> {
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
      `exchange.dialect says "${configured}"; the dialect of the exchange could not be determined`,
      isAnyKeyGood
        ? 'Try again later; the keys are accepted.'
        : 'Correct a key first: only a signed request can determine the dialect.',
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

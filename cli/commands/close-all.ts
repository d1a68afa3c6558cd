import type { Command } from 'commander';
import { readPositions } from '../../lib/account/read-positions.ts';
import { formatDecimal, zero } from '../../lib/base/decimal.ts';
import { describeSafely } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import type { Account } from '../../lib/model/account.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import type { PositionSide } from '../../lib/model/order.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { listOpenings, type Opening } from '../session/openings.ts';
import {
  isPending,
  listPositionTickers,
  listRemovedTickers,
  marketsWithPositions,
  sendSignal,
  type TickerOfMarket,
  waitForOutcome,
} from '../session/send-signal.ts';
import { chooseAccount, commandFor, type Session, type Target } from '../session/session.ts';
import { paint } from '../show/print.ts';
import { styleStatus } from '../show/render-signals.ts';
import { renderRows } from '../show/table.ts';
import { hasClosed } from './close.ts';

interface CloseAllOptions {
  readonly maxSlippage?: string;
  readonly account?: string;
}

export function addCloseAllCommand(program: Command): void {
  program
    .command('close-all')
    .description(
      'close every position in the markets of relay.config.ts, or left in one that was taken out, with what protects it, and cancel the entries that rest; also while paused, except with `pause --everything`',
    )
    .option('--max-slippage <per cent>', 'less than the account allows, or for an account that names none')
    .option('--account <name>', 'which account (default: all configured accounts)')
    .action((options: CloseAllOptions, command: Command) =>
      runCommand(command, (context) => closeAll(context, options)),
    );
}

/** What is sent for one position, or for the orders of a market without one. */
interface Task {
  readonly account: Account;
  readonly place: TickerOfMarket;
  readonly action: 'close' | 'cancel_all';
  /** Of an account in hedge mode. */
  readonly positionSide?: 'LONG' | 'SHORT';
}

interface Result {
  readonly account: string;
  readonly market: string;
  readonly action: Task['action'];
  readonly positionSide?: 'LONG' | 'SHORT';
  /** Null when the alert was refused. */
  readonly signalId: string | null;
  readonly status: Status | null;
  readonly note: string;
  /** Whether nothing is left to do; under way, too: the relay goes on with it. */
  readonly isDone: boolean;
}

async function closeAll(
  { session, terminal, printChange }: Context,
  { account: name, maxSlippage }: CloseAllOptions,
): Promise<void> {
  const { settings } = session;
  const accounts = name === undefined ? Object.values(settings.accounts) : [chooseAccount(settings, name)];
  const [trading, dry] = [
    accounts.filter(({ mode }) => mode !== 'dry-run'),
    accounts.filter(({ mode }) => mode === 'dry-run'),
  ];
  const findAll = (some: readonly Account[]) =>
    Promise.all(some.map((account) => findTasks(session, account)));
  const tradingFound = await findAll(trading);
  const tasks = tradingFound.flatMap((each) => each.tasks);
  const carriedOut = await Promise.all(tasks.map((task) => carryOutAll(session, task, maxSlippage)));
  const results = carriedOut.flat();
  // Their keys may be of the same account at the exchange, where everything is closed by now.
  const found = [...tradingFound, ...(await findAll(dry))];
  const left = [
    ...found.flatMap(({ unreached }) => unreached),
    ...results
      .filter(({ isDone }) => !isDone)
      .map(({ market, account, status, note }) => `${market} of ${account}: ${status ?? 'refused'}: ${note}`),
  ];
  if (left.length > 0)
    throw new CommandFailure(
      'not_closed',
      `not everything was surely closed: ${left.join('; ')}`,
      `${commandFor(session.target, 'positions')} shows what is open. In an emergency close it on the website of the exchange.`,
    );
  const onSpot = await Promise.all(accounts.map((account) => findCoins(session, account)));
  const coins = onSpot.flatMap((each) => each.coins);
  const notLookedAt = [...found, ...onSpot].flatMap((each) => each.notLookedAt ?? []);
  const closes = results.map(({ isDone: _, ...result }) => result);
  printChange({ closes, coins, notLookedAt }, () =>
    [
      ...(results.length === 0
        ? [`${coins.length === 0 ? 'Nothing' : 'No position'} is open in the markets of relay.config.ts.`]
        : [
            renderResults(results, terminal.width),
            '',
            ...renderUnderWay(session.target, results),
            paint(`What is left of the positions: ${commandFor(session.target, 'positions')}`),
          ]),
      ...renderCoins(coins),
      ...notLookedAt.map((text) => paint(`Not looked at: ${text}`)),
    ].join('\n'),
  );
}

/** What an account holds on spot of the base currency of one of its markets. */
interface Coins {
  readonly account: string;
  readonly market: string;
  /** In base units, with what orders hold. */
  readonly amount: string;
}

interface FoundCoins {
  readonly coins: readonly Coins[];
  /** The coins of an account that could not be read, and why. */
  readonly notLookedAt?: string;
}

/** What is left after everything is closed: the owner must not take coins for closed. */
async function findCoins(session: Session, account: Account): Promise<FoundCoins> {
  const spot = Object.keys(account.markets).filter((name) => account.markets[name]?.tradesOn === 'spot');
  if (spot.length === 0) return { coins: [] };
  // Two markets may have one base currency.
  const markets = new Map(spot.toReversed().map((name) => [currenciesInName(name).base, name]));
  const read = await readSafely(session, account, async (client) =>
    client.dialect === 'live' ? await client.call(tradeBalance, {}, { timeoutMs }) : null,
  );
  if (read.ok && read.value === null)
    return {
      coins: [],
      notLookedAt: `the coins of account ${account.name}: the dialect has no list of them`,
    };
  if (!read.ok) return { coins: [], notLookedAt: `the coins of account ${account.name}: ${read.reason}` };
  const coins = [...markets].flatMap(([base, market]): readonly Coins[] => {
    const { available = zero, freeze = zero } = read.value?.[base] ?? {};
    const amount = available.plus(freeze);
    return amount.gt(zero) ? [{ account: account.name, market, amount: formatDecimal(amount) }] : [];
  });
  return { coins };
}

function renderCoins(coins: readonly Coins[]): readonly string[] {
  if (coins.length === 0) return [];
  const held = coins.map(
    ({ account, market, amount }) => `${amount} ${currenciesInName(market).base} of ${account} (${market})`,
  );
  return [
    paint(
      `Coins on spot are no position: they are not sold, and orders for them stay. Held are ${held.join(', ')}. An alert with "action": "sell" and "quantityPercent": "100%" sells what is free.`,
    ),
  ];
}

/** Which positions may still stand when the command ends. */
export function renderUnderWay(
  target: Target,
  results: readonly Pick<Result, 'account' | 'market' | 'signalId' | 'status'>[],
): readonly string[] {
  return results.flatMap(({ account, market, signalId, status }) =>
    signalId !== null && status !== null && isPending({ status })
      ? [
          paint(
            `Still under way, so not surely closed: ${market} of ${account} (${status}). For the outcome: ${commandFor(target, `signal ${signalId}`)}`,
          ),
        ]
      : [],
  );
}

interface FoundTasks {
  readonly tasks: readonly Task[];
  /** Positions that no alert can name, or that none may close. */
  readonly unreached: readonly string[];
  /** An account that cannot have traded, and why. */
  readonly notLookedAt?: string;
}

async function findTasks(session: Session, account: Account): Promise<FoundTasks> {
  const configured = listPositionTickers(session.settings, account);
  const places = [...configured, ...(await listRemovedTickers(session, account))];
  // A position stands on margin also where the owner has changed the market to spot since.
  if (places.length === 0 && (await marketsWithPositions(session, account)).size === 0)
    return { tasks: [], unreached: [] };
  const isDry = account.mode === 'dry-run';
  const readAtMs = session.clock.nowMs();
  const read = await readSafely(session, account, (client) =>
    readPositions({ client, clock: session.clock, limits: { timeoutMs } }),
  );
  if (!read.ok && isDry && read.code === 'secrets_missing')
    return { tasks: [], unreached: [], notLookedAt: `${account.name}, which is in dry-run and has no key` };
  if (!read.ok)
    return { tasks: [], unreached: [`account ${account.name} could not be read: ${read.reason}`] };
  const { positions } = read.value;
  if (isDry) return await findLeftInDryRun(session, account, { places, positions });
  const markets = places.map(({ market }) => market);
  // One account whose signals cannot be read must not hide what was done with the others.
  const openings = await listOpenings(session, account, markets, readAtMs).catch(describeSafely);
  if (typeof openings === 'string')
    return { tasks: [], unreached: [`account ${account.name} could not be looked at: ${openings}`] };
  const tasks: Task[] = [];
  for (const place of places) {
    const sides = listSides(
      positions.filter(({ market }) => market === place.market),
      openings.filter(({ market }) => market === place.market),
    );
    tasks.push(...sides.map((side) => closeOf(account, place, side)));
    if (sides.length > 0) continue;
    const own = await session.openLedger().openOrders(account.name, place.market, 1);
    if (own.length > 0) tasks.push({ account, place, action: 'cancel_all' });
  }
  const unreached = positions
    .filter(({ market }) => !places.some((place) => place.market === market))
    .map(({ market }) => `${market} of ${account.name}: ${explainUnreached(account, market)}`);
  return { tasks, unreached };
}

function closeOf(account: Account, place: TickerOfMarket, side: PositionSide): Task {
  return { account, place, action: 'close', ...(side === 'BOTH' ? {} : { positionSide: side }) };
}

/**
 * The positions of a market that are to be closed: those that were seen, and those that the list need not show yet or that a
 * waiting signal may still open. A close takes its turn in the line of its market, so it closes these, too.
 *
 * @returns none where nothing but orders that rest can open one: those are cancelled
 */
function listSides(
  held: readonly Pick<OpenPosition, 'positionSide'>[],
  openings: readonly Opening[],
): readonly PositionSide[] {
  if (held.length === 0 && !openings.some(({ isUnseen }) => isUnseen)) return [];
  const sides = new Set([...held, ...openings].map(({ positionSide }) => positionSide));
  // What is held shows the mode of the account; without that, a named side does.
  if (held.some(({ positionSide }) => positionSide === 'BOTH')) return ['BOTH'];
  const named = [...sides].filter((side) => side !== 'BOTH');
  return named.length === 0 ? ['BOTH'] : named;
}

function explainUnreached({ markets }: Account, market: string): string {
  return markets[market]?.tradesOn === 'spot'
    ? 'its position is on margin, and the market trades on spot in relay.config.ts, where no alert closes a position: write tradesOn as it was until the position is closed'
    : 'it has no ticker in relay.config.ts, or is no market of this account there';
}

/** An account that was changed to dry-run may have traded before. No alert of it sends anything now. */
async function findLeftInDryRun(
  session: Session,
  { name }: Account,
  {
    places,
    positions,
  }: { readonly places: readonly TickerOfMarket[]; readonly positions: readonly OpenPosition[] },
): Promise<FoundTasks> {
  const held = positions.map(
    ({ market, amount }) => `${market} of ${name}: ${formatDecimal(amount)} is open`,
  );
  const ledger = session.openLedger();
  const open = await Promise.all(
    places.map(async ({ market }) => {
      const orders = await ledger.openOrders(name, market, 1);
      return orders.length === 0 ? [] : [`${market} of ${name}: an order may be open`];
    }),
  );
  const unreached = [...held, ...open.flat()].map(
    (text) =>
      `${text}, and the account is in dry-run, so nothing is sent for it: close it on the website of the exchange`,
  );
  return { tasks: [], unreached };
}

type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly reason: string };

/** What fails for one account must not keep the others from being closed. */
async function readSafely<T>(
  session: Session,
  account: Account,
  request: (client: ExchangeClient) => Promise<T>,
): Promise<Read<T>> {
  try {
    return { ok: true, value: await askExchange(session, account, request) };
  } catch (error) {
    if (error instanceof RelayError || error instanceof CommandFailure)
      return { ok: false, code: error.code, reason: error.message };
    throw error;
  }
}

/** An order that rested may have filled before it could be cancelled: what that opened is closed, too. */
async function carryOutAll(
  session: Session,
  task: Task,
  maxSlippage: string | undefined,
): Promise<readonly Result[]> {
  const { account, place, action } = task;
  const nowMs = session.clock.nowMs();
  const result = await carryOut(session, task, maxSlippage);
  if (action !== 'cancel_all') return [result];
  const openings = await listOpenings(session, account, [place.market], nowMs).catch(describeSafely);
  if (typeof openings === 'string')
    return [
      {
        ...result,
        status: null,
        isDone: false,
        note: `what it has opened could not be looked at: ${openings}`,
      },
    ];
  const sides = listSides([], openings);
  const closes = sides.map((side) => carryOut(session, closeOf(account, place, side), maxSlippage));
  return [result, ...(await Promise.all(closes))];
}

async function carryOut(session: Session, task: Task, maxSlippage: string | undefined): Promise<Result> {
  const { account, place, action, positionSide } = task;
  const side = positionSide === undefined ? {} : { positionSide };
  const bound = maxSlippage === undefined || action === 'cancel_all' ? {} : { maxSlippage };
  const shared = { account: account.name, market: place.market, action, ...side };
  try {
    const signalId = await sendSignal(session, account, 'close-all', place, { action, ...side, ...bound });
    const entry = await waitForOutcome(session, account, signalId);
    const { status, steps } = entry;
    // A close that was itself withdrawn has closed nothing.
    const isDone = isPending(entry) || (action === 'close' ? hasClosed(entry) : status === 'cancelled');
    return { ...shared, signalId, status, note: steps.at(-1)?.note ?? '', isDone };
  } catch (error) {
    // The others are closed all the same.
    if (!(error instanceof CommandFailure)) throw error;
    return { ...shared, signalId: null, status: null, note: error.message, isDone: false };
  }
}

function renderResults(results: readonly Result[], width: number | null): string {
  return renderRows(
    [
      { title: 'account' },
      { title: 'market' },
      { title: 'action' },
      { title: 'status' },
      { title: 'signal' },
    ],
    results.map(({ account, market, action, positionSide, status, signalId, note }) => ({
      cells: [
        account,
        positionSide === undefined ? market : `${market} ${positionSide}`,
        action,
        status === null ? '–' : styleStatus(status),
        signalId ?? '–',
      ],
      note,
    })),
    { width },
  );
}

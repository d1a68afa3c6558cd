import type { Command } from 'commander';
import { findStops, findTargets, isStopAwaited } from '../../lib/account/find-protection.ts';
import {
  describeHidden,
  type PositionsReading,
  parseReading,
  readPositions,
} from '../../lib/account/read-positions.ts';
import { type Decimal, zero } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { ticker } from '../../lib/exchange/endpoints/ticker.ts';
import { ifRead } from '../../lib/exchange/errors.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { mostFollowed } from '../../lib/ledger/executions.ts';
import type { Account } from '../../lib/model/account.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';
import type { Order } from '../../lib/model/order.ts';
import { placesOrder } from '../../lib/model/signal.ts';
import { addAccountArgument, type Context, namedAccount, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { findStrategies, type PositionProtection, readOpenIn, readProtection } from '../read/read-guards.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { chooseAccount, describeChosen, type Session } from '../session/session.ts';
import { cellText, paint } from '../show/print.ts';
import { describeStops, renderPositions, stopWords } from '../show/render-positions.ts';
import { describeTime } from '../show/time-zone.ts';

export function addPositionsCommand(program: Command): void {
  const command = program
    .command('positions')
    .description(
      'show the open positions of an account: profit, liquidation, and the stop-losses and take-profits that should protect them, beside those that do',
    );
  addAccountArgument(command, 'which account (default: the first configured one)').action(
    (account: string | undefined, _options: object, self: Command) =>
      runCommand(self, (context) => showPositions(context, namedAccount(account, self))),
  );
}

async function showPositions({ session, terminal, print }: Context, name: string | undefined): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const { reading, lastPrices, open, failure } = await readNowOrStored(session, account);
  const followed =
    reading.positions.length === 0 ? [] : await session.openExecutions().followed(account.name, mostFollowed);
  const nowMs = session.clock.nowMs();
  const ageMs = nowMs - reading.readAtMs;
  const shown = await Promise.all(
    reading.positions.map(async (position) => ({
      position,
      lastPrice: lastPrices[position.market] ?? null,
      stops: findStops(position, followed),
      targets: findTargets(position, followed),
      isStopAwaited: isStopAwaited(position, followed, nowMs),
      strategies: findStrategies(position, followed, open.get(position.market) ?? []),
      protection: await readKept(session, account, position, { followed, open: open.get(position.market) }),
    })),
  );
  const document = {
    account: account.name,
    readAtMs: reading.readAtMs,
    ageMs,
    positions: shown.map(({ position, ...known }) => ({ ...position, ...known })),
    unknown: describeHidden(reading),
    failure,
  };
  const stops = shown.map((one) => cellText(describeStops(one)));
  const since = failure === null ? [] : await listPlacedSince(session, account, reading.readAtMs);
  const unsettled = shown.flatMap(({ protection }) =>
    protection?.byHand.gt(zero) === true && protection.unsettled !== null ? [protection.unsettled] : [],
  );
  print(document, () =>
    [
      shown.length === 0 ? `No open positions of account ${account.name}.` : renderPositions(shown, terminal),
      ...document.unknown.map((sentence) => paint(`INCOMPLETE: ${sentence}.`)),
      paint(describeAge(reading.readAtMs, ageMs, failure, terminal.timeZone)),
      ...(since.length === 0
        ? []
        : [
            paint(
              `What the relay has sent after that reading may have changed them: ${since.map(({ signalId }) => signalId).join(', ')}. \`npx relay signals\` shows what became of it.`,
            ),
          ]),
      ...(shown.some(({ protection }) => protection?.guards.some(({ state }) => state === 'missing'))
        ? [
            paint(
              '"MISSING" should stand and does not: the relay places it as it follows the position. If it cannot, it raises the alarm protection_failed.',
            ),
          ]
        : []),
      ...(stops.some((text) => text.includes(stopWords.awaited))
        ? [
            paint(
              'Stop "being read": the position, or that part of it, was filled within the last minute, and the relay reads its stop-loss from the exchange. Repeat the command in a few seconds; a stop-loss that is missing raises an alarm.',
            ),
          ]
        : []),
      ...unsettled.map((signalId) =>
        paint(
          `Stop "${stopWords.unsettled}": the outcome of signal ${signalId} is not known yet. The stop is that of its order, or one of yours. The relay looks it up; \`npx relay resolve ${signalId}\` does so now.`,
        ),
      ),
      ...(stops.includes(stopWords.none)
        ? [
            paint(
              'Stop "none known": no stop-loss that this relay placed is known to be open. The exchange may hold one that you placed yourself: `npx relay orders` lists all of them.',
            ),
          ]
        : []),
      paint(describeChosen(session, account, name, 'positions')),
    ].join('\n\n'),
  );
}

/** The newest first: orders that were placed, or may have been, after the positions were read. */
async function listPlacedSince(
  session: Session,
  { name }: Account,
  readAtMs: number,
): Promise<readonly Entry[]> {
  const { entries } = await session.openLedger().list({ account: name, limit: mostSince });
  return entries.filter(
    ({ status, signal, updatedAtMs }) =>
      updatedAtMs > readAtMs &&
      signal !== null &&
      placesOrder(signal) &&
      (status === 'placed' || status === 'unknown' || status === 'sending'),
  );
}

const mostSince = 20;

/** @returns null where the account keeps nothing, and when what stands was not read */
async function readKept(
  session: Session,
  account: Account,
  position: OpenPosition,
  {
    followed,
    open,
  }: { readonly followed: readonly Entry[]; readonly open: readonly Order[] | null | undefined },
): Promise<PositionProtection | null> {
  if (account.protection !== 'keep' || open === null || open === undefined) return null;
  return await readProtection(session, account, position, followed, open);
}

interface NowOrStored {
  readonly reading: PositionsReading;
  /** By market; empty when the exchange could not be read. */
  readonly lastPrices: Readonly<Record<string, Decimal>>;
  /** By market; empty when the exchange could not be read. */
  readonly open: ReadonlyMap<string, readonly Order[] | null>;
  /** Why the exchange could not be read; null when it was. */
  readonly failure: string | null;
}

/** When the exchange cannot be read, the last reading of the relay's own watch is shown. */
async function readNowOrStored(session: Session, account: Account): Promise<NowOrStored> {
  if (session.locateExchange().dialect !== 'live')
    throw createUsageFailure(
      'the documented dialect has no list of positions',
      'Look at the website of the exchange.',
    );
  try {
    return await askExchange(session, account, async (client) => {
      const reading = await readPositions({ client, clock: session.clock, limits: { timeoutMs } });
      const lastPrices = reading.positions.length === 0 ? {} : await readLastPrices(client);
      const open = await readOpenIn(client, reading.positions);
      return { reading, lastPrices, open, failure: null };
    });
  } catch (error) {
    if (!(error instanceof RelayError || error instanceof CommandFailure)) throw error;
    const stored = parseReading(await session.openFacts().read(account.name, 'positions'));
    if (stored === null) throw error;
    return { reading: stored, lastPrices: {}, open: new Map(), failure: error.message };
  }
}

/** The positions are shown without them, too. */
async function readLastPrices(client: ExchangeClient): Promise<Readonly<Record<string, Decimal>>> {
  return (await ifRead(client.call(ticker, {}, { timeoutMs }))) ?? {};
}

function describeAge(readAtMs: number, ageMs: number, failure: string | null, timeZone: string): string {
  const when = describeTime(readAtMs, timeZone);
  if (failure === null) return `Read from the exchange just now, ${when}.`;
  return `OLD: the exchange cannot be read now (${failure}). This is what the relay read ${Math.round(ageMs / 60_000)} min ago, ${when}.`;
}

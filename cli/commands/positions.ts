import type { Command } from 'commander';
import { RelayError } from '../../lib/base/errors.ts';
import { type PositionsReading, parseReading, readPositions } from '../../lib/exposure/read-positions.ts';
import type { Account } from '../../lib/model/account.ts';
import { findStops } from '../../lib/relay/find-protection.ts';
import { type Context, runCommand } from '../command.ts';
import { askExchange, timeoutMs } from '../exchange.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { paint } from '../print.ts';
import { renderPositions } from '../render-positions.ts';
import { chooseAccount, type Session } from '../session.ts';
import { describeTime } from '../time-zone.ts';

export function addPositionsCommand(program: Command): void {
  program
    .command('positions')
    .description(
      'show the open positions of an account: profit, liquidation, and whether a stop-loss of this relay protects them',
    )
    .argument('[account]', 'which account (default: the first configured one)')
    .action((account: string | undefined, _options: object, command: Command) =>
      runCommand(command, (context) => showPositions(context, account)),
    );
}

/** The most followed entries whose stops are looked at. */
const mostFollowed = 1000;

async function showPositions({ session, terminal, print }: Context, name: string | undefined): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const { reading, failure } = await readNowOrStored(session, account);
  const followed =
    reading.positions.length === 0 ? [] : await session.openExecutions().followed(account.name, mostFollowed);
  const shown = reading.positions.map((position) => ({ position, stops: findStops(position, followed) }));
  const ageMs = session.clock.nowMs() - reading.readAtMs;
  const document = {
    account: account.name,
    readAtMs: reading.readAtMs,
    ageMs,
    positions: shown.map(({ position, stops }) => ({ ...position, stops })),
    failure,
  };
  print(document, () =>
    [
      shown.length === 0 ? 'No open positions.' : renderPositions(shown, terminal),
      paint(describeAge(reading.readAtMs, ageMs, failure, terminal.timeZone)),
      ...(shown.some(({ stops }) => stops.length === 0)
        ? [
            paint(
              'Stop "none known": no stop-loss that this relay placed is known to be open. The exchange may hold one that you placed yourself: `npx relay orders` lists all of them.',
            ),
          ]
        : []),
    ].join('\n\n'),
  );
}

interface NowOrStored {
  readonly reading: PositionsReading;
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
    const reading = await askExchange(session, account, (client) =>
      readPositions({ client, clock: session.clock, limits: { timeoutMs } }),
    );
    return { reading, failure: null };
  } catch (error) {
    if (!(error instanceof RelayError || error instanceof CommandFailure)) throw error;
    const stored = parseReading(await session.openFacts().read(account.name, 'positions'));
    if (stored === null) throw error;
    return { reading: stored, failure: error.message };
  }
}

function describeAge(readAtMs: number, ageMs: number, failure: string | null, timeZone: string): string {
  const when = describeTime(readAtMs, timeZone);
  if (failure === null) return `Read from the exchange just now, ${when}.`;
  return `OLD: the exchange cannot be read now (${failure}). This is what the relay read ${Math.round(ageMs / 60_000)} min ago, ${when}.`;
}

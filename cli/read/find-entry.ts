import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import { CommandFailure } from '../failure.ts';
import { leastTyped, readTypedId, shortenId } from '../show/short-id.ts';

/** What the ledger contains for an id. */
export interface Found {
  readonly entry: Entry;
  /** Further refused alerts with that id, newest first. */
  readonly refusals: readonly Entry[];
}

/**
 * Finds the entry with an id, and the refused alerts with the same id. If all were refused, the newest is the
 * entry.
 *
 * @param typed an id, or an unambiguous beginning of one
 * @param mustBeWhole whether only a whole id will do, because what follows changes the entry or an order
 * @throws CommandFailure when no entry matches, or more than one
 */
export async function findEntry(
  ledger: Ledger,
  typed: string,
  accounts: readonly string[],
  mustBeWhole = false,
): Promise<Found> {
  const exact = await readAccounts(ledger, typed, accounts);
  if (exact.length > 0) return chooseOne(exact, typed);
  const { ids: begun, isWhole } = await findIds(ledger, typed, accounts);
  // The short form of one id may be the beginning of another: of two legs, say.
  const shownAs = begun.filter((id) => shortenId(id) === typed);
  const ids = shownAs.length === 1 ? shownAs : begun;
  const [only] = ids;
  if (only === undefined) throw createUnknown(typed, accounts);
  if (ids.length > 1 || !isWhole) throw createUnclear(typed, ids);
  if (mustBeWhole && shortenId(only) !== typed) throw createNotWhole(typed, only);
  return chooseOne(await readAccounts(ledger, only, accounts), only);
}

async function readAccounts(
  ledger: Ledger,
  signalId: string,
  accounts: readonly string[],
): Promise<readonly Found[]> {
  const reads = await Promise.all(accounts.map((account) => readAll(ledger, account, signalId)));
  return reads.flatMap(([entry, ...refusals]) => (entry === undefined ? [] : [{ entry, refusals }]));
}

async function readAll(ledger: Ledger, account: string, signalId: string): Promise<readonly Entry[]> {
  const entry = await ledger.read({ account, signalId });
  const refusals = await readRefusals(ledger, account, signalId);
  return entry === null ? refusals : [entry, ...refusals];
}

/** How many matching ids a failure lists. */
const mostShown = 5;
/** How many entries are read: one alert may have been refused many times. */
const mostRead = 100;

interface FoundIds {
  readonly ids: readonly string[];
  /** False when there may be more ids. */
  readonly isWhole: boolean;
}

/** The ids with that beginning. A refused alert counts under its explicit id. */
async function findIds(ledger: Ledger, typed: string, accounts: readonly string[]): Promise<FoundIds> {
  const { beginning, end } = readTypedId(typed);
  if (beginning.length < leastTyped) return { ids: [], isWhole: true };
  const found = await Promise.all(
    accounts.map((account) => ledger.findByPrefix(account, beginning, mostRead)),
  );
  const ids = found.flat().map(({ signalId }) => signalId.split('@')[0] ?? signalId);
  return {
    ids: [...new Set(ids.filter((id) => id.endsWith(end)))],
    isWhole: found.every(({ length }) => length < mostRead),
  };
}

function chooseOne(found: readonly Found[], signalId: string): Found {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const accounts = found.map(({ entry }) => entry.account);
  throw new CommandFailure(
    'ambiguous_signal',
    `the accounts ${accounts.join(' and ')} each have a signal "${signalId}"`,
    `Choose one, for example: --account ${accounts[0]}`,
  );
}

function createUnknown(typed: string, accounts: readonly string[]): CommandFailure {
  return new CommandFailure(
    'unknown_signal',
    `the ledger has no signal "${typed}" of ${accounts.join(' or ')}`,
    readTypedId(typed).beginning.length < leastTyped
      ? `\`npx relay signals\` lists the ids. A beginning needs ${leastTyped} characters or more.`
      : '`npx relay signals` lists the ids.',
  );
}

function createNotWhole(typed: string, id: string): CommandFailure {
  return new CommandFailure(
    'ambiguous_signal',
    `"${typed}" is only the beginning of the id of a signal, and this settles a signal`,
    `If it is the one you mean, write its id: ${id}`,
  );
}

function createUnclear(typed: string, ids: readonly string[]): CommandFailure {
  const more = ids.length > mostShown ? ' and more' : '';
  return new CommandFailure(
    'ambiguous_signal',
    `the ids of several signals begin with "${typed}": ${ids.slice(0, mostShown).join(', ')}${more}`,
    'Type more of the id.',
  );
}

import type { Entry } from '../lib/ledger/entry.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import { CommandFailure } from './failure.ts';
import { leastTyped, readTypedId } from './short-id.ts';

/** What the ledger knows of an id. */
export interface Found {
  readonly entry: Entry;
  /** Further alerts of that id that were refused, newest first. */
  readonly refusals: readonly Entry[];
}

/**
 * The entry of that id with the alerts of that id that were refused; where all were, the newest of them.
 *
 * @param typed an id, or the beginning of one where no other id begins so
 * @throws CommandFailure when there is none, or more than one
 */
export async function findEntry(ledger: Ledger, typed: string, accounts: readonly string[]): Promise<Found> {
  const exact = await readAccounts(ledger, typed, accounts);
  if (exact.length > 0) return chooseOne(exact, typed);
  const { ids, isWhole } = await findIds(ledger, typed, accounts);
  const [only] = ids;
  if (only === undefined) throw createUnknown(typed, accounts);
  if (ids.length > 1 || !isWhole) throw createUnclear(typed, ids);
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
  const refusals = await ledger.readRefusals(account, signalId);
  return entry === null ? refusals : [entry, ...refusals];
}

/** More than these are too many to choose from. */
const mostShown = 5;
/** Of one alert that was refused again and again there may be many. */
const mostRead = 100;

interface FoundIds {
  readonly ids: readonly string[];
  /** False when there may be more. */
  readonly isWhole: boolean;
}

/** The ids that begin so. An alert that was refused stands under the id it gave. */
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
    `Say which is meant, for example: --account ${accounts[0]}`,
  );
}

function createUnknown(typed: string, accounts: readonly string[]): CommandFailure {
  return new CommandFailure(
    'unknown_signal',
    `the ledger has no signal "${typed}" of ${accounts.join(' or ')}`,
    '`npx relay signals` lists the ids.',
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

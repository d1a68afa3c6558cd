import type { Entry } from '../lib/ledger/entry.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import { CommandFailure } from './failure.ts';

/** What the ledger knows of an id. */
export interface Found {
  readonly entry: Entry;
  /** Further alerts of that id that were refused, newest first. */
  readonly refusals: readonly Entry[];
}

/**
 * The entry of that id, of one of the accounts.
 *
 * @throws CommandFailure when there is none, or more than one
 */
export async function findEntry(
  ledger: Ledger,
  signalId: string,
  accounts: readonly string[],
): Promise<Entry> {
  const reads = await Promise.all(accounts.map((account) => ledger.read({ account, signalId })));
  return chooseOne(
    reads.filter((entry) => entry !== null),
    signalId,
    accounts,
  );
}

/**
 * The entry of that id with the alerts of that id that were refused; where all were, the newest of them.
 *
 * @throws CommandFailure when there is none, or more than one account has one
 */
export async function findWithRefusals(
  ledger: Ledger,
  signalId: string,
  accounts: readonly string[],
): Promise<Found> {
  const reads = await Promise.all(accounts.map((account) => readAll(ledger, account, signalId)));
  const firsts = reads.flatMap(([first]) => first ?? []);
  const entry = chooseOne(firsts, signalId, accounts);
  const [, ...refusals] = reads.find(([first]) => first === entry) ?? [];
  return { entry, refusals };
}

async function readAll(ledger: Ledger, account: string, signalId: string): Promise<readonly Entry[]> {
  const entry = await ledger.read({ account, signalId });
  const refusals = await ledger.readRefusals(account, signalId);
  return entry === null ? refusals : [entry, ...refusals];
}

function chooseOne(found: readonly Entry[], signalId: string, accounts: readonly string[]): Entry {
  const [entry] = found;
  if (entry === undefined)
    throw new CommandFailure(
      'unknown_signal',
      `the ledger has no signal "${signalId}" of ${accounts.join(' or ')}`,
      '`npx relay signals` lists the ids.',
    );
  if (found.length > 1)
    throw new CommandFailure(
      'ambiguous_signal',
      `the accounts ${found.map((one) => one.account).join(' and ')} each have a signal "${signalId}"`,
      `Say which is meant, for example: --account ${entry.account}`,
    );
  return entry;
}

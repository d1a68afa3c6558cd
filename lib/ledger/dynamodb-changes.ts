import { type Item, numberOf, textAttribute } from '../base/dynamodb.ts';
import { parseOwnJson } from '../base/json.ts';
import type { LogFacts } from '../base/log.ts';
import { alarmPrefix, dayPrefix, entryOrDamaged, pauseName } from './dynamodb-items.ts';
import { pauseKindOf } from './ledger.ts';
import { accountIn, type ChangeBase, type LedgerChange, outcomeOf } from './ledger-change.ts';

/**
 * A record of the stream of the ledger's table, with the item before and after.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
 */
export interface StreamRecord {
  readonly eventID?: string | undefined;
  readonly dynamodb?:
    | {
        readonly Keys?: Item | undefined;
        readonly NewImage?: Item | undefined;
        readonly OldImage?: Item | undefined;
        /** In seconds since the Unix epoch. */
        readonly ApproximateCreationDateTime?: number | undefined;
      }
    | undefined;
}

/** The changes that a record tells of; none for an item that tells nobody anything. */
export function changesOf({ eventID = '', dynamodb = {} }: StreamRecord): readonly LedgerChange[] {
  const { Keys = {}, NewImage, OldImage, ApproximateCreationDateTime: second } = dynamodb;
  const name = textAttribute(Keys, 'item');
  const base = { id: eventID, account: textAttribute(Keys, 'account'), atMs: (second ?? 0) * 1000 };
  if (name === pauseName) return [{ ...base, kind: 'pause', pause: NewImage ? pauseOf(NewImage) : null }];
  if (NewImage === undefined) return [];
  // An alarm and a day are told when they are stored, and not when they are changed by hand.
  if (name.startsWith(alarmPrefix)) return OldImage === undefined ? [alarmOf(eventID, NewImage)] : [];
  if (name.startsWith(dayPrefix))
    return OldImage === undefined
      ? [{ ...base, kind: 'day', lines: parseOwnJson<string[]>(textAttribute(NewImage, 'lines')) }]
      : [];
  return name.startsWith('signal#') ? changesOfEntry(base, NewImage, OldImage) : [];
}

function changesOfEntry(base: ChangeBase, after: Item, before: Item | undefined): readonly LedgerChange[] {
  const entry = entryOrDamaged(after);
  const hadStatus = before === undefined ? '' : textAttribute(before, 'status');
  const isOutcome = entry.status !== hadStatus && entry.status !== 'accepted' && entry.status !== 'sending';
  const isFollowed = textAttribute(after, 'execution') !== textAttribute(before ?? {}, 'execution');
  return [
    ...(isOutcome ? [outcomeOf(base, entry, entry.status)] : []),
    ...(isFollowed
      ? [
          {
            ...base,
            id: `${base.id} execution`,
            kind: 'execution' as const,
            atMs: entry.execution?.readAtMs ?? base.atMs,
            entry,
            before: before === undefined ? null : entryOrDamaged(before).execution,
          },
        ]
      : []),
  ];
}

function pauseOf(item: Item) {
  const reason = textAttribute(item, 'reason');
  return { sinceMs: numberOf(item, 'sinceMs'), reason, kind: pauseKindOf(item['kind']?.S ?? null, reason) };
}

function alarmOf(id: string, item: Item): LedgerChange {
  const facts = parseOwnJson<LogFacts>(textAttribute(item, 'facts'));
  return {
    kind: 'alarm',
    id,
    account: accountIn(facts),
    atMs: numberOf(item, 'atMs'),
    name: textAttribute(item, 'name'),
    message: textAttribute(item, 'message'),
    facts,
  };
}

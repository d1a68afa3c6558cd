import { type Item, textAttribute } from '../base/dynamodb.ts';
import type { Update, Written } from '../base/dynamodb-table.ts';
import { createFirstLookup } from './create-entry.ts';
import { expiryAttribute, expiryOf, followedPlace, keyItem, stepList } from './dynamodb-items.ts';
import type { EntryKey } from './entry.ts';
import type { Move } from './ledger.ts';
import { isOpenAfter } from './ledger-rules.ts';
import { formatLookup } from './stored-entry.ts';

/** The update expression of one attribute, and the values it refers to. */
interface Setting {
  readonly set: string;
  readonly values?: Item;
}

/**
 * The conditional write that moves an entry if it still has the status the caller saw.
 *
 * @param writer a unique id of this write, by which a retry recognises it
 * @see DECISIONS 35
 */
export function updateOf(key: EntryKey, move: Move, keepDays: number, writer: string): Update {
  const settings = [...settingsOf(move, keepDays, writer), ...followSettings(key, move)];
  const removed = [
    ...(isOpenAfter(move) === false && move.step.status !== 'placed' ? ['#openOrder'] : []),
    ...(move.from === 'unknown' ? ['#lookDueAtMs'] : []),
  ];
  const remove = removed.length === 0 ? '' : ` REMOVE ${removed.join(', ')}`;
  return {
    Key: keyItem(key),
    set: `SET ${settings.map(({ set }) => set).join(', ')}${remove}`,
    condition: '#status = :from',
    values: Object.assign({ ':from': { S: move.from } }, ...settings.map(({ values }) => values)),
  };
}

function settingsOf(move: Move, keepDays: number, writer: string): readonly Setting[] {
  const { step, orderId } = move;
  return [
    { set: '#status = :to', values: { ':to': { S: step.status } } },
    { set: '#updatedAtMs = :at', values: { ':at': { N: String(step.atMs) } } },
    { set: '#steps = list_append(#steps, :step)', values: { ':step': stepList(step) } },
    { set: '#writer = :writer', values: { ':writer': { S: writer } } },
    ...(orderId === undefined
      ? []
      : [{ set: '#orderId = :orderId', values: { ':orderId': { N: String(orderId) } } }]),
    ...(isOpenAfter(move) === true ? [{ set: '#openOrder = #orderPlace' }] : []),
    ...expirySettings(move, keepDays),
    ...lookupSettings(move),
  ];
}

/** An order that has ended is followed until its fills are known. */
function followSettings(key: EntryKey, move: Move): readonly Setting[] {
  if (move.step.status !== 'placed' || isOpenAfter(move) !== false) return [];
  const values = { ':followed': { S: followedPlace(key, move.step.atMs) } };
  return [{ set: '#openOrder = :followed', values }];
}

function expirySettings(move: Move, keepDays: number): readonly Setting[] {
  const { from, step } = move;
  // If the move does not say, an order that was sent may still be open.
  const mayBeOpen = isOpenAfter(move) ?? (from === 'sending' || from === 'unknown');
  const expiresAt = expiryOf(step.status, step.atMs, keepDays, mayBeOpen);
  if (expiresAt === null) return [];
  return [{ set: `#${expiryAttribute} = :expiry`, values: { ':expiry': { N: String(expiresAt) } } }];
}

function lookupSettings({ step }: Move): readonly Setting[] {
  if (step.status !== 'unknown') return [];
  const look = formatLookup(createFirstLookup(step.atMs));
  return [{ set: '#look = :look', values: { ':look': { S: look } } }, { set: '#lookDueAtMs = :at' }];
}

/** If the response to a write is lost, the retry conflicts with its own earlier write, which succeeded. */
export function recogniseOwn(written: Written, writer: string): Written {
  if (written.done || written.found === null || textAttribute(written.found, 'writer') !== writer)
    return written;
  return { done: true, item: written.found };
}

import type { Account, TradingGround } from '../model/account.ts';
import type { OwnPart, PriceOrDistance, ProtectPositionSignal } from '../model/signal.ts';
import type { ProtectAction } from './actions.ts';
import { refuseUnkept } from './check-kept.ts';
import { namesTakenBy } from './field-table.ts';
import type { Field, Fields } from './fields.ts';
import type { Issues } from './issues.ts';
import { isEntryWord, type ReadExit, readExit, readTrailing } from './read-exits.ts';
import { readPositionSide } from './read-reduction.ts';
import { readTakeProfits, wholeTakeProfit } from './read-take-profits.ts';

/** The fields of an alert about the protection of a position, and the account whose settings decide about it. */
export interface ProtectSource {
  readonly fields: Fields;
  readonly action: ProtectAction;
  readonly account: Account;
  /** Where the market trades; undefined when the account does not trade it. */
  readonly tradesOn: TradingGround | undefined;
  /** The signal's position in an array, for example `[1].`; empty for a single signal. */
  readonly prefix: string;
}

/** What it does not have: it sizes, prices and cancels nothing. */
const foreignFields = namesTakenBy('trade', 'order', 'position', 'cancel', 'cancel_all');

/**
 * Parses what protects the open position of a market from now on, and adds every validation issue.
 *
 * @returns undefined when the alert is incomplete
 */
export function parseProtect(
  source: ProtectSource,
  issues: Issues,
): OwnPart<ProtectPositionSignal> | undefined {
  const { fields, action, prefix } = source;
  const foundBefore = issues.count;
  refuseForeign(fields, issues);
  refuseUnkept({ ...source, path: fields.action?.path ?? `${prefix}action`, what: 'a protect' }, issues);
  const stop = readStop(fields, action, issues);
  const trailing = readTrailing(fields.trailing, stop.trailing, issues);
  const takeProfits = readTargets(fields, issues);
  const positionSide = readPositionSide(fields, issues);
  const stopLoss = stop.price;
  const isEmpty = stopLoss === undefined && trailing === undefined && takeProfits === undefined;
  if (isEmpty && issues.count === foundBefore)
    return issues.add(
      `${prefix}stopLoss`,
      'the alert does not say what protects the position',
      'add "stopLoss": a price, a distance such as "2%", or "entry"; or "takeProfit", "takeProfits" or "trailing": "1.5%"',
    );
  if (issues.count > foundBefore) return undefined;
  return {
    action: 'protect_position',
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...(takeProfits === undefined ? {} : { takeProfits }),
    ...(trailing === undefined ? {} : { trailing }),
    ...(positionSide === undefined ? {} : { positionSide }),
  };
}

function refuseForeign(fields: Fields, issues: Issues): void {
  for (const name of foreignFields) {
    const field = fields[name];
    if (field === undefined) continue;
    const isPrice = name === 'limitPrice' || name === 'stopPrice';
    issues.add(
      field.path,
      'a protect says what protects the open position, and trades nothing itself',
      isPrice
        ? 'write the price as "stopLoss" or "takeProfit"; remove it if it is the last price'
        : 'remove it',
    );
  }
}

type Stop = Omit<ReadExit, 'price'> & { readonly price?: PriceOrDistance | 'entry' };

function readStop({ stopLoss }: Fields, { toEntry }: ProtectAction, issues: Issues): Stop {
  if (stopLoss === undefined) return toEntry === true ? { price: 'entry' } : {};
  if (isEntryWord(stopLoss)) return { price: 'entry' };
  if (toEntry === true) refuseOther(stopLoss, issues);
  return readExit('stopLoss', stopLoss, issues) ?? {};
}

function refuseOther({ path }: Field, issues: Issues): void {
  issues.add(
    path,
    'the action moves the stop-loss to the entry price',
    'remove it, or write "action": "protect" with this "stopLoss"',
  );
}

function readTargets(fields: Fields, issues: Issues): ProtectPositionSignal['takeProfits'] {
  const { takeProfits } = readTakeProfits(fields, issues);
  const { price } = (fields.takeProfit && readExit('takeProfit', fields.takeProfit, issues)) ?? {};
  return takeProfits ?? (price === undefined ? undefined : wholeTakeProfit(price));
}

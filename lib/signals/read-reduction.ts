import type { TradingGround } from '../model/account.ts';
import { type HedgeSide, isMarkedReducing, type PositionSide, type Side } from '../model/order.ts';
import type { OrderSize, PositionName, PositionState } from '../model/signal.ts';
import type { OrderAction } from './actions.ts';
import type { Fields } from './fields.ts';
import { protectOpen } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { readFlag, readWord, type Vocabulary } from './read-text.ts';

/** The words for a position in one-way mode. */
export const positionStates: Vocabulary<PositionState> = {
  what: 'a position',
  words: { long: 'long', bullish: 'long', short: 'short', bearish: 'short', flat: 'flat' },
  known: ['long', 'short', 'flat'],
};
const positionSideWords: Vocabulary<PositionSide> = {
  what: 'a side of a position',
  words: { long: 'LONG', short: 'SHORT', both: 'BOTH' },
  known: ['LONG', 'SHORT', 'BOTH'],
};
/** The position that each side opens. */
const openedBy = { buy: 'long', sell: 'short' } as const;
const nameOfSide: Readonly<Record<HedgeSide, PositionName>> = { LONG: 'long', SHORT: 'short' };

/** What an alert says about the position that its order meets. */
export interface Stance {
  /** The order must not open or enlarge a position. */
  readonly reduceOnly: boolean;
  readonly positionSide: PositionSide | undefined;
}

interface StanceSource {
  readonly fields: Fields;
  readonly action: OrderAction;
  /** Undefined when it could not be read. */
  readonly size: OrderSize | undefined;
  /** Where the market trades; undefined when the account does not trade it. */
  readonly tradesOn: TradingGround | undefined;
}

/**
 * Reads whether the order may only reduce a position, and which one. Statements that contradict each other are
 * validation issues.
 *
 * Besides `reduceOnly`, three statements mean that the order reduces: an action that exits, a share of the position,
 * and a sentiment that is not the position which the side opens.
 */
export function readStance(source: StanceSource, issues: Issues): Stance {
  const { fields, action, tradesOn } = source;
  const sentiment = fields.sentiment && readWord(fields.sentiment, positionStates, issues);
  const explicit = fields.reduceOnly && readFlag(fields.reduceOnly, issues);
  const positionSide = readPositionSide(fields, issues);
  const reason = findReason(source, sentiment);
  const reduces = explicit === true || reason !== null;
  if (fields.reduceOnly !== undefined && explicit === false && reason !== null)
    issues.add(fields.reduceOnly.path, `it is false, but ${reason}`, 'remove "reduceOnly"');
  refuseContradictions(fields, action, { reduces, sentiment, positionSide }, issues);
  if (tradesOn === 'spot') refuseShortOnSpot(source, sentiment, issues);
  if (isMarkedReducing({ side: action.side, positionSide, reduceOnly: reduces }))
    refuseBesideReduction(source, issues);
  return { reduceOnly: reduces, positionSide };
}

/** Reads the fields of a stance, only to report their validation issues. */
export function checkStanceFields(fields: Fields, issues: Issues): void {
  if (fields.sentiment !== undefined) readWord(fields.sentiment, positionStates, issues);
  if (fields.reduceOnly !== undefined) readFlag(fields.reduceOnly, issues);
  readPositionSide(fields, issues);
}

/** Why the order only reduces, apart from `reduceOnly`; null when nothing says so. */
function findReason({ action, size }: StanceSource, sentiment: PositionState | undefined): string | null {
  if (action.exits !== null) return `the action exits a ${action.exits} position`;
  if (size?.unit === 'percent' && size.of === 'position') return 'a share of the position only reduces it';
  if (sentiment !== undefined && sentiment !== openedBy[action.side])
    return `a ${action.side} after which the position is ${sentiment} only reduces`;
  return null;
}

interface Statements {
  readonly reduces: boolean;
  readonly sentiment: PositionState | undefined;
  readonly positionSide: PositionSide | undefined;
}

function refuseContradictions(
  fields: Fields,
  { side, enters, exits }: OrderAction,
  { reduces, sentiment, positionSide }: Statements,
  issues: Issues,
): void {
  if (reduces && enters !== null)
    issues.add(
      fields.action?.path ?? '',
      `it enters a ${enters} position, but another field says that the order only reduces one`,
      'write "exit_long" or "exit_short", or remove the other field',
    );
  else if (reduces && sentiment === openedBy[side])
    issues.add(
      fields.sentiment?.path ?? '',
      `after a ${side} that only reduces, the position is not ${sentiment}`,
      'remove it, or what makes the order reduce',
    );
  if (positionSide === undefined || positionSide === 'BOTH') return;
  const complaint = findSideConflict({ side, named: enters ?? exits }, positionSide, { reduces, sentiment });
  if (complaint !== null)
    issues.add(
      fields.positionSide?.path ?? '',
      `it is ${positionSide}, but ${complaint}`,
      'correct one of them',
    );
}

/** What contradicts a position side: in hedge mode each side opens one position and only reduces the other. */
function findSideConflict(
  { side, named }: { readonly side: Side; readonly named: PositionName | null },
  positionSide: HedgeSide,
  { reduces, sentiment }: Pick<Statements, 'reduces' | 'sentiment'>,
): string | null {
  const opened = openedBy[side];
  const isOpened = nameOfSide[positionSide] === opened;
  if (named !== null)
    return named === nameOfSide[positionSide] ? null : `the action names a ${named} position`;
  if (reduces && isOpened)
    return `a ${side} that only reduces meets a ${opened === 'long' ? 'short' : 'long'} position`;
  return sentiment === opened && !isOpened
    ? `after the ${side} the position is said to be ${sentiment}`
    : null;
}

/** The exchange refuses stop-loss and take-profit beside reduce-only (code 30). */
function refuseBesideReduction({ fields, size, tradesOn }: StanceSource, issues: Issues): void {
  const { stopLoss, takeProfit, takeProfits, trailing } = fields;
  for (const { path } of [stopLoss, takeProfit, takeProfits, trailing].flatMap((field) => field ?? []))
    issues.add(
      path,
      'the exchange takes no stop-loss or take-profit with an order that only reduces a position',
      `remove it; ${protectOpen}`,
    );
  const isUnnamed = size?.unit === 'percent' && size.of === 'balance' && fields.of === undefined;
  if (isUnnamed && tradesOn !== 'spot')
    issues.add(
      (fields.quantityPercent ?? fields.quantity)?.path ?? '',
      'the order only reduces a position, and the alert does not say what the per cent is a share of',
      'add "of": "position", or "of": "balance" for a share of the free collateral',
    );
}

/** What else a spot market has not is denied when the order is planned, where the words of the alert are gone. */
function refuseShortOnSpot(
  { fields, action }: StanceSource,
  sentiment: PositionState | undefined,
  issues: Issues,
): void {
  const message = 'a spot market has no short positions';
  if ((action.enters ?? action.exits) === 'short')
    issues.add(fields.action?.path ?? '', message, 'write "buy" or "sell"');
  else if (sentiment === 'short' || (sentiment === 'flat' && action.side === 'buy'))
    issues.add(fields.sentiment?.path ?? '', message, 'remove it, or correct "action"');
}

export function readPositionSide({ positionSide }: Fields, issues: Issues): PositionSide | undefined {
  return positionSide && readWord(positionSide, positionSideWords, issues);
}

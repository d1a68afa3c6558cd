import type { Account, TradingGround } from '../model/account.ts';
import type { CloseSignal, OrderSize, OwnPart, PercentText, PositionSignal } from '../model/signal.ts';
import { marketKind } from '../orders/market.ts';
import type { PositionAction } from './actions.ts';
import { refuseUnkeptExits } from './check-kept.ts';
import { isMarket, saysFlat } from './close-of-order.ts';
import { type FieldName, namesTakenBy } from './field-table.ts';
import type { Fields } from './fields.ts';
import { plainWord, protectOpen } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { type ExitsPart, readExits } from './read-exits.ts';
import { readStp } from './read-flags.ts';
import { readPercent } from './read-number.ts';
import { readPositionSide } from './read-reduction.ts';
import { type ReferencePart, readReferencePrice } from './read-reference.ts';
import { readLoneSize } from './read-size.ts';
import { readTarget, targetFields } from './read-target.ts';
import { readFlag } from './read-text.ts';

/** The fields of a position action, and the account whose settings complete them. */
export interface PositionSource {
  readonly fields: Fields;
  readonly action: PositionAction;
  readonly account: Account;
  /** The market of the alert's ticker; undefined when there is none. */
  readonly market: string | undefined;
  /** Where the market trades; undefined when the account does not trade it. */
  readonly tradesOn: TradingGround | undefined;
  /** The signal's position in an array, for example `[1].`; empty for a single signal. */
  readonly prefix: string;
}

type OwnPosition = OwnPart<PositionSignal>;

/** Fields that no position action has: their orders fill at once, at market. */
const orderOnly = namesTakenBy('order');

/**
 * Parses the fields of a position action and adds every validation issue.
 *
 * @returns its legs in the order of execution: one that reduces the position, then for a reversal and for a target that is
 * not flat one that opens; none when the alert is incomplete
 * @see DECISIONS 149
 */
export function parsePosition(source: PositionSource, issues: Issues): readonly OwnPosition[] {
  const { fields, action } = source;
  const foundBefore = issues.count;
  refuse(fields, orderOnly, `${describe(action)} is carried out at market`, 'remove it', issues);
  checkGround(source, issues);
  checkOrderType(fields, issues);
  const shared = readShared(source, issues);
  const legs = readLegs(source, shared, issues);
  return issues.count > foundBefore ? [] : legs;
}

function describe({ name }: PositionAction): string {
  return name === 'flat' ? 'a flat target' : `a ${name}`;
}

function readLegs(source: PositionSource, shared: Shared, issues: Issues): readonly OwnPosition[] {
  switch (source.action.name) {
    case 'close':
      return [{ ...readClose(source, issues), ...shared }];
    case 'reverse':
      return readReverse(source, shared, issues);
    default:
      return readTargetLegs(source, shared, issues);
  }
}

/** A spot market has a balance instead of a position. */
function checkGround({ fields, action, tradesOn, prefix }: PositionSource, issues: Issues): void {
  if (tradesOn !== 'spot') return;
  issues.add(
    fields.action?.path ?? `${prefix}action`,
    `${describe(action)} is about a position, and a spot market has none`,
    'write "action": "sell" with "quantityPercent": "100%" to sell all of it, or "buy" with a size; positions exist on margin and futures (tradesOn in relay.config.ts). For one that stands on margin from before, write tradesOn as it was until it is closed',
  );
}

function checkOrderType({ orderType }: Fields, issues: Issues): void {
  if (orderType === undefined || isMarket(orderType)) return;
  issues.add(
    orderType.path,
    'position actions are carried out at market, within maxSlippage',
    'remove it, or write "market"',
  );
}

interface Shared extends ReferencePart {
  readonly maxSlippage?: PercentText;
  readonly keepEntries?: true;
  readonly stp?: NonNullable<ReturnType<typeof readStp>>;
}

function readShared({ fields, account, prefix }: PositionSource, issues: Issues): Shared {
  const maxSlippage = fields.maxSlippage && readPercent(fields.maxSlippage, 'nothing', issues);
  const rule = marketKind.fields.maxSlippage;
  const complaint =
    fields.maxSlippage === undefined && rule.use === 'required' ? rule.complain(account) : null;
  if (complaint !== null) issues.add(`${prefix}maxSlippage`, complaint.message, complaint.hint);
  const stp = readStp(fields, issues);
  return {
    ...(maxSlippage === undefined ? {} : { maxSlippage }),
    ...(fields.keepEntries && readFlag(fields.keepEntries, issues) ? { keepEntries: true } : {}),
    ...(stp === undefined ? {} : { stp }),
    ...readReferencePrice(fields, issues),
  };
}

function readClose({ fields, action, market }: PositionSource, issues: Issues): OwnPart<CloseSignal> {
  const hint = 'remove it; a "target" says which position is wanted';
  const isFlat = saysFlat(fields);
  const contradicting = isFlat ? targetFields : ([...targetFields, 'sentiment'] as const);
  refuse(fields, contradicting, 'a close ends the position', hint, issues);
  if (fields.reduceOnly !== undefined && readFlag(fields.reduceOnly, issues) === false)
    issues.add(fields.reduceOnly.path, 'it is false, but a close only reduces', 'remove it');
  refuse(
    fields,
    ['stopLoss', 'takeProfit', 'takeProfits', 'trailing'],
    'a close leaves no position to protect',
    `remove it; ${protectOpen}`,
    issues,
  );
  const positionSide = readPositionSide(fields, issues);
  const part = readPart(fields, market, issues);
  if (isFlat && part !== undefined && part !== '100%')
    issues.add(
      fields.sentiment?.path ?? '',
      `after a close of ${part} the position is not flat`,
      'correct one of them',
    );
  const { only } = action;
  if (
    only !== undefined &&
    positionSide !== undefined &&
    positionSide !== 'BOTH' &&
    plainWord(positionSide) !== only
  )
    issues.add(
      fields.positionSide?.path ?? '',
      `it is ${positionSide}, but the action names a ${only} position`,
      'correct one of them',
    );
  return {
    action: 'close',
    ...(only === undefined ? {} : { only }),
    ...(part === undefined ? {} : { part }),
    ...(positionSide === undefined ? {} : { positionSide }),
  };
}

/** Of the position, which is the only thing that a close can take a share of. */
function readPart(fields: Fields, market: string | undefined, issues: Issues): PercentText | undefined {
  const size = readLoneSize(fields, market, issues);
  const field = fields.quantityPercent ?? fields.quantity ?? fields.quoteQuantity;
  if (size === undefined || field === undefined) return undefined;
  if (size.unit !== 'percent') {
    issues.add(
      field.path,
      'a close takes a per cent of the position as its size',
      'remove it to close all, or write "quantity": "50%"; for an amount write "action": "exit_long" (or "exit_short") with "orderType": "market"',
    );
    return undefined;
  }
  if (fields.of !== undefined && size.of === 'balance')
    issues.add(fields.of.path, 'a close takes a share of the position', 'remove it, or write "position"');
  return size.quantityPercent;
}

function readReverse(source: PositionSource, shared: Shared, issues: Issues): readonly OwnPosition[] {
  const { fields, market } = source;
  const hint = 'remove it; a "target" says which position is wanted';
  refuse(fields, [...targetFields, 'sentiment'], 'a reverse turns the position that is there', hint, issues);
  refuseHedgeSide(fields, issues);
  refuse(
    fields,
    ['reduceOnly'],
    'a reverse opens a position',
    'remove it, or write "action": "close"',
    issues,
  );
  const size = readLoneSize(fields, market, issues);
  if (size?.unit === 'percent' && size.of === 'position')
    issues.add(
      (fields.quantityPercent ?? fields.quantity)?.path ?? '',
      'the size of a reverse is that of the new position',
      'remove it for the size of the position that is closed, or write an amount',
    );
  const exits = readKeptExits(source, issues);
  const sized: { readonly size?: OrderSize } = size === undefined ? {} : { size };
  return [
    { action: 'reverse', leg: 'reduce', ...sized, ...shared },
    { action: 'reverse', leg: 'open', ...sized, ...shared, ...exits },
  ];
}

function readTargetLegs(source: PositionSource, shared: Shared, issues: Issues): readonly OwnPosition[] {
  const { fields, action, prefix } = source;
  refuseHedgeSide(fields, issues);
  refuse(
    fields,
    ['reduceOnly'],
    'a target may open a position',
    'remove it, or write "action": "close"',
    issues,
  );
  // Beside a flat target they protect nothing, and are as any size ignored.
  const exits = readExits(fields, issues);
  const target = readTarget(fields, action, prefix, issues);
  if (target === undefined) return [];
  const reduce: OwnPosition = { action: 'target', leg: 'reduce', target, ...shared };
  if (target.unit === 'flat') return [reduce];
  refuseUnkeptExits(exits, fields, source, issues);
  const { quantityType, of } = fields;
  for (const { path } of [quantityType ?? [], of ?? []].flat())
    issues.add(path, 'the field that states the position also says its unit', 'remove it');
  return [reduce, { action: 'target', leg: 'open', target, ...shared, ...exits }];
}

function readKeptExits(source: PositionSource, issues: Issues): ExitsPart {
  const exits = readExits(source.fields, issues);
  refuseUnkeptExits(exits, source.fields, source, issues);
  return exits;
}

/** `BOTH` is what an account in one-way mode has anyway. */
function refuseHedgeSide(fields: Fields, issues: Issues): void {
  const side = readPositionSide(fields, issues);
  if (side === undefined || side === 'BOTH') return;
  issues.add(
    fields.positionSide?.path ?? '',
    'in hedge mode a market has a long and a short position, and no single one to turn or to bring to a target',
    `write "action": "close" with "positionSide": "${side}", and an entry with its own side and size`,
  );
}

function refuse(
  fields: Fields,
  names: readonly FieldName[],
  message: string,
  hint: string,
  issues: Issues,
): void {
  for (const { path } of names.flatMap((name) => fields[name] ?? [])) issues.add(path, message, hint);
}

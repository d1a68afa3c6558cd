import { type Account, tradingGroundOf } from '../model/account.ts';
import type { CloseSignal, OrderSignal, OwnPart, PositionState } from '../model/signal.ts';
import type { KindFieldName, OrderKind, OrderValues } from '../orders/order-kind.ts';
import type { OrderAction } from './actions.ts';
import { refuseUnkeptExits } from './check-kept.ts';
import type { FieldName, Fields } from './fields.ts';
import { plainWord } from './foreign-words.ts';
import { createIssues, type Issues } from './issues.ts';
import { readExits } from './read-exits.ts';
import { type BookFlags, readBookFlags, readExpectTrigger, readStp } from './read-flags.ts';
import { readKind } from './read-kind.ts';
import { readPercent, readPositive } from './read-number.ts';
import { checkStanceFields, positionStates, readStance } from './read-reduction.ts';
import { readReferencePrice } from './read-reference.ts';
import { readGivenSize, readSize } from './read-size.ts';
import { checkTargetFields, targetFields } from './read-target.ts';
import { readWord } from './read-text.ts';

/** The fields of an order, and the account whose settings complete them. */
export interface OrderSource {
  readonly fields: Fields;
  readonly action: OrderAction;
  readonly account: Account;
  /** The market of the alert's ticker; undefined when there is none. */
  readonly market: string | undefined;
  /** The signal's position in an array, for example `[1].`; empty for a single signal. */
  readonly prefix: string;
}

/**
 * Parses the order fields of a signal and adds every validation issue; undefined when the order is
 * incomplete.
 */
export function parseOrder(source: OrderSource, issues: Issues): OwnPart<OrderSignal> | undefined {
  const { fields } = source;
  const kind = readKind(fields, source.account, source.prefix, issues);
  const flags = readBookFlags(fields, issues);
  const refused = kind === undefined ? noFields : checkFields(kind, source, flags, issues);
  const values = readValues(source, flags, refused, issues);
  const presumed = readPresumed(source, issues);
  const reference = readReferencePrice(fields, issues);
  refuseTargets(fields, issues);
  const own = kind === undefined || values === undefined ? undefined : kind.createSignal(values);
  return own && { ...own, ...presumed, ...reference };
}

/** The position that the alert presumes, and the account's rule for another one; or what it only tells. */
function readPresumed(
  source: OrderSource,
  issues: Issues,
): Pick<OrderSignal, 'requirePosition' | 'onMismatch' | 'told'> {
  const { fields, account } = source;
  const hasPositions = tradingGroundOf(source.account, source.market) !== 'spot';
  const before = readPrevious(source, hasPositions, issues);
  const field = fields.requirePosition;
  const required = field && readWord(field, positionStates, issues);
  if (field !== undefined && !hasPositions)
    issues.add(field.path, 'a spot market has no positions', 'remove it, or trade the market on margin');
  const decides = account.requirePosition && hasPositions;
  if (decides && required !== undefined && before !== undefined && required !== before)
    issues.add(
      field?.path ?? '',
      `"${fields.prevMarketPosition?.key}" says ${before}`,
      'correct one of them',
    );
  const requirePosition = required ?? (decides ? before : undefined);
  if (requirePosition === undefined) return tellPosition(source, hasPositions ? before : undefined);
  const { onMismatch } = account;
  return { requirePosition, ...(onMismatch === 'deny' ? {} : { onMismatch }) };
}

/** Where it does not decide, any other text than a position only informs. */
function readPrevious(
  { fields: { prevMarketPosition }, account }: OrderSource,
  hasPositions: boolean,
  issues: Issues,
): PositionState | undefined {
  if (prevMarketPosition === undefined) return undefined;
  const decides = account.requirePosition && hasPositions;
  return readWord(prevMarketPosition, positionStates, decides ? issues : createIssues());
}

function tellPosition(source: OrderSource, before: PositionState | undefined): Pick<OrderSignal, 'told'> {
  const { sentiment } = source.fields;
  const isFlat = sentiment !== undefined && readWord(sentiment, positionStates, createIssues()) === 'flat';
  const after = isFlat && tradingGroundOf(source.account, source.market) !== 'spot' ? 'flat' : undefined;
  if (before === undefined && after === undefined) return {};
  return { told: { ...(before && { before }), ...(after && { after }) } };
}

/**
 * The signal that closes another position than the one that the order presumes, if the account's rule needs one. A
 * position other than flat cannot be brought about by closing.
 */
export function legBefore(order: OwnPart<OrderSignal>): readonly OwnPart<CloseSignal>[] {
  const { requirePosition, onMismatch, positionSide, referencePrice } = order;
  if (requirePosition === undefined || onMismatch === undefined) return [];
  if (onMismatch === 'resync' && requirePosition !== 'flat') return [];
  return [
    {
      action: 'close',
      unless: requirePosition,
      ...(positionSide === undefined ? {} : { positionSide }),
      ...('maxSlippage' in order ? { maxSlippage: order.maxSlippage } : {}),
      ...(referencePrice === undefined ? {} : { referencePrice }),
    },
  ];
}

/** Beside `buy` and `sell` a wanted position could contradict the size of the order. */
function refuseTargets(fields: Fields, issues: Issues): void {
  if (fields.keepEntries !== undefined)
    issues.add(
      fields.keepEntries.path,
      'an order cancels no other one',
      'remove it; it belongs to "close", "reverse" and "target"',
    );
  for (const { path } of targetFields.flatMap((name) => fields[name] ?? []))
    issues.add(
      path,
      'it states a position, and this action places an order of its own size',
      'remove it; or remove "action", so that the relay brings the position to what is stated',
    );
}

/** Reads the order fields of an alert with an unknown action, only to report their validation issues. */
export function checkOrderFields(fields: Fields, issues: Issues): void {
  readGivenSize(fields, undefined, issues);
  readPrices(fields, noFields, issues);
  readExits(fields, issues);
  readBookFlags(fields, issues);
  readStp(fields, issues);
  readExpectTrigger(fields, 'buy', issues);
  checkStanceFields(fields, issues);
  readReferencePrice(fields, issues);
  checkTargetFields(fields, issues);
  if (fields.requirePosition !== undefined) readWord(fields.requirePosition, positionStates, issues);
}

const noFields: ReadonlySet<FieldName> = new Set();

/** Adds an issue for every field that the kind needs or must not have. @returns the latter */
function checkFields(
  kind: OrderKind,
  { fields, account, prefix }: OrderSource,
  flags: BookFlags,
  issues: Issues,
): ReadonlySet<FieldName> {
  const refused = new Set<FieldName>();
  const refusal = kind.checkAccount(account);
  if (refusal !== null)
    issues.add(fields.orderType?.path ?? `${prefix}orderType`, refusal.message, refusal.hint);
  for (const name of Object.keys(kind.fields) as KindFieldName[]) {
    const rule = kind.fields[name];
    const path = name === 'postOnly' || name === 'ioc' ? flags[name] : fields[name]?.path;
    if (rule.use === 'forbidden' && path !== undefined) {
      const { message, hint } = rule.complaint;
      if (isBarePrice(name, fields))
        issues.add(
          path,
          `"price" is no limit here: ${message}`,
          `${hint}; a price to compare the fills with is "referencePrice"`,
        );
      else issues.add(path, message, hint);
      refused.add(name);
    }
    const complaint = rule.use === 'required' && path === undefined ? rule.complain(account) : null;
    if (complaint !== null) issues.add(`${prefix}${name}`, complaint.message, complaint.hint);
  }
  return refused;
}

/** Other relays take `price` for a limit, or for the last price that they compare the fill with. */
function isBarePrice(name: KindFieldName, { limitPrice }: Fields): boolean {
  return name === 'limitPrice' && limitPrice !== undefined && plainWord(limitPrice.key) === 'price';
}

function readValues(
  source: OrderSource,
  flags: BookFlags,
  refused: ReadonlySet<FieldName>,
  issues: Issues,
): OrderValues | undefined {
  const { fields, action, prefix } = source;
  const { side } = action;
  const size = readSize({ fields, market: source.market, prefix, isExit: action.exits !== null }, issues);
  const prices = readPrices(fields, refused, issues);
  const exits = readExits(fields, issues);
  const { reduceOnly, positionSide } = readStance(
    { fields, action, size, tradesOn: tradingGroundOf(source.account, source.market) },
    issues,
  );
  const ground = { account: source.account, tradesOn: tradingGroundOf(source.account, source.market) };
  // An order that only reduces has been refused with them already.
  if (!reduceOnly) refuseUnkeptExits(exits, fields, ground, issues);
  const stp = readStp(fields, issues);
  const expectTrigger = readExpectTrigger(fields, side, issues);
  if (size === undefined) return undefined;
  return {
    side,
    size,
    ...prices,
    ...exits,
    ...(positionSide === undefined ? {} : { positionSide }),
    ...(reduceOnly ? { reduceOnly } : {}),
    ...(flags.postOnly === undefined ? {} : { postOnly: true }),
    ...(flags.ioc === undefined ? {} : { ioc: true }),
    ...(stp === undefined ? {} : { stp }),
    ...(expectTrigger === undefined ? {} : { expectTrigger }),
  };
}

type Prices = Pick<OrderValues, 'stopPrice' | 'limitPrice' | 'maxSlippage'>;

/** @param refused the fields whose values do not matter any more */
function readPrices(fields: Fields, refused: ReadonlySet<FieldName>, issues: Issues): Prices {
  const given = (name: FieldName) => (refused.has(name) ? undefined : fields[name]);
  const [stop, limit, slippage] = [given('stopPrice'), given('limitPrice'), given('maxSlippage')];
  const stopPrice = stop && readPositive(stop, issues);
  const limitPrice = limit && readPositive(limit, issues);
  const maxSlippage = slippage && readPercent(slippage, 'nothing', issues);
  return {
    ...(stopPrice === undefined ? {} : { stopPrice }),
    ...(limitPrice === undefined ? {} : { limitPrice }),
    ...(maxSlippage === undefined ? {} : { maxSlippage }),
  };
}

import { RelayError } from '../base/errors.ts';
import { type Account, tradingGroundOf } from '../model/account.ts';
import type { CommonPart, OwnPart, Signal } from '../model/signal.ts';
import { type Action, readAction } from './actions.ts';
import { closeOf } from './close-of-order.ts';
import { type FieldName, fieldNames, rowOf } from './field-table.ts';
import { collectFields, type Fields } from './fields.ts';
import { createIssues, type Issues } from './issues.ts';
import { checkCancelFields, parseCancel, parseCancelAll, refuseCancelFields } from './parse-cancel.ts';
import { type JsonNode, parseJson } from './parse-json.ts';
import { checkOrderFields, legBefore, parseOrder } from './parse-order.ts';
import { parsePosition } from './parse-position.ts';
import { parseProtect } from './parse-protect.ts';
import { readId, refuseLongId, refuseSharedIds } from './read-id.ts';
import { readMaxLagMs } from './read-number.ts';
import { impliesTarget } from './read-target.ts';
import { readExtras, readText } from './read-text.ts';
import { readTimeMs } from './read-time.ts';
import { readInfo, settleInforming } from './settle-informing.ts';
import { type Instrument, readInstrument } from './tickers.ts';

/** Settings and times that parsing an alert needs. */
export interface AlertContext {
  /** Ticker in the alert → market at the exchange. */
  readonly tickers: Readonly<Record<string, string>>;
  /** The largest age of an alert that has no `maxLag`. */
  readonly defaultMaxLagMs: number;
  readonly nowMs: number;
  /** How far ahead of `nowMs` an alert's time may be. */
  readonly futureAllowanceMs: number;
  readonly account: Account;
}

/** One signal of an alert, and its explicit id; null when it has none. */
export interface AlertItem {
  readonly explicitId: string | null;
  readonly signal: Signal;
  /** Prepares the position for `signal`, and is executed before it; present when both may place an order. */
  readonly reduceLeg?: Signal;
}

export interface Alert {
  /** Whether the body was an array, even of one signal. */
  readonly isArray: boolean;
  /** Whether no id and no time tells the alert from the next one with the same bytes: only its arrival does. */
  readonly isByArrival: boolean;
  /** One to ten, in the order of execution. An item with two legs counts as two. */
  readonly items: readonly AlertItem[];
}

/** The state of parsing one signal. */
interface Reading {
  readonly fields: Fields;
  /** The signal's position in an array, for example `[1].`; empty for a single signal. */
  readonly prefix: string;
  readonly context: AlertContext;
  readonly issues: Issues;
}

const mostItems = 10;
/** The fields of text that is only kept with the signal. */
const keptTexts = fieldNames.filter((name) => rowOf(name).mostCharacters !== undefined);

/**
 * Parses the body of an alert: a JSON object, or an array of up to ten.
 *
 * The age of the alert is not checked here, so that a late resend of a known alert is still recognised.
 *
 * @throws RelayError `invalid_json`, or `invalid_signal` with every validation issue: its path, message and
 *   hint
 */
export function parseAlert(body: Uint8Array, context: AlertContext): Alert {
  const root = parseJson(body);
  const issues = createIssues();
  const items = parseItems(root, context, issues);
  if (issues.count > 0) throw refusal(issues);
  const isByArrival = items.every(({ explicitId, signal }) => explicitId === null && signal.timeMs === null);
  return { isArray: root.kind === 'array', isByArrival, items };
}

function refusal({ issues, count }: Issues): RelayError {
  const [first] = issues;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return new RelayError('invalid_signal', `the alert was refused: ${where}${first?.message ?? ''}${more}`, {
    issues,
  });
}

function parseItems(root: JsonNode, context: AlertContext, issues: Issues): readonly AlertItem[] {
  if (root.kind !== 'array') return parseItem(root, '', context, issues);
  if (root.items.length === 0)
    issues.add('', 'the array contains no signal', 'send one object, or an array of up to ten');
  if (root.items.length > mostItems) {
    issues.add(
      '',
      `the array contains ${root.items.length} signals`,
      `send at most ${mostItems} in one alert`,
    );
    return [];
  }
  const items = root.items.flatMap((node, index) => parseItem(node, `[${index}]`, context, issues));
  const legs = items.length + items.filter(({ reduceLeg }) => reduceLeg !== undefined).length;
  if (legs > mostItems)
    issues.add(
      '',
      `the array contains ${legs} orders: a reversal, and a target that is not flat, count as two`,
      `send at most ${mostItems} in one alert`,
    );
  refuseSharedIds(items, issues);
  return items;
}

/** One item, or none when validation issues prevent it. */
function parseItem(node: JsonNode, place: string, context: AlertContext, issues: Issues): AlertItem[] {
  if (node.kind !== 'object') {
    issues.add(place, `the signal is ${kindOf(node)}, not an object`, hintForLoneValue(node));
    return [];
  }
  const prefix = place === '' ? '' : `${place}.`;
  const collected = collectFields(node, prefix, issues);
  const action = readGivenAction({ fields: collected, prefix, context, issues });
  const fields = settleInforming(collected, action, issues);
  const reading: Reading = { fields, prefix, context, issues };
  const common = readCommon(reading);
  const explicitId = readId(reading, action);
  const legs = readOwn(reading, action, common?.market);
  if (legs.length > 1) refuseLongId(reading, explicitId);
  const own = legs.at(-1);
  if (common === undefined || own === undefined) return [];
  const [reduce] = legs.slice(0, -1);
  const reduceLeg = reduce && { ...common, ...reduce };
  const signal = { ...common, ...own };
  return [{ explicitId, signal, ...(reduceLeg === undefined ? {} : { reduceLeg }) }];
}

function kindOf(node: JsonNode): string {
  return node.kind === 'null' ? 'null' : `${node.kind === 'array' ? 'an' : 'a'} ${node.kind}`;
}

function hintForLoneValue(node: JsonNode): string {
  return node.kind === 'string' && /^\s*[[{]/.test(node.text)
    ? 'the object is inside quotes; send it without them, beginning with {'
    : 'send an object with ticker, action and the rest: {"ticker": "{{ticker}}", …}';
}

function readGivenAction({ fields, prefix, issues }: Reading): Action | undefined {
  if (fields.action !== undefined) return readAction(fields.action, issues);
  if (impliesTarget(fields)) return { name: 'target' };
  return issues.add(
    `${prefix}action`,
    'the alert has no action',
    'add "action": "{{strategy.order.action}}", or "buy", "sell", "close", "reverse", "protect", "cancel", "cancel_all"; or "marketPosition" with "marketPositionSize" to follow the position of a strategy',
  );
}

function readOwn(
  { fields, prefix, context, issues }: Reading,
  action: Action | undefined,
  market: string | undefined,
): readonly OwnPart<Signal>[] {
  const { account } = context;
  switch (action?.name) {
    case 'order': {
      refuseCancelFields(fields, issues);
      const close = closeOf(fields, action);
      if (close !== null)
        return parsePosition(
          { fields, action: close, account, market, tradesOn: tradingGroundOf(account, market), prefix },
          issues,
        );
      const order = parseOrder({ fields, action, account, market, prefix }, issues);
      return order === undefined ? [] : [...legBefore(order), order];
    }
    case 'protect':
      return listOf(
        parseProtect({ fields, action, account, tradesOn: tradingGroundOf(account, market), prefix }, issues),
      );
    case 'cancel':
      return listOf(parseCancel(fields, prefix, issues));
    case 'cancel_all':
      return [parseCancelAll(fields, issues)];
    case 'close':
    case 'reverse':
    case 'target':
    case 'flat':
      refuseCancelFields(fields, issues);
      return parsePosition(
        { fields, action, account, market, tradesOn: tradingGroundOf(account, market), prefix },
        issues,
      );
    case undefined:
      checkOrderFields(fields, issues);
      checkCancelFields(fields, issues);
      return [];
  }
}

function listOf<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

function readCommon(reading: Reading): CommonPart | undefined {
  const { fields, issues } = reading;
  const instrument = readTicker(reading);
  const times = readTimes(reading);
  const texts = Object.fromEntries(
    keptTexts.flatMap((name) => {
      const text = readGivenText(reading, name);
      return text === undefined ? [] : [[name, text]];
    }),
  );
  const extras = fields.extras === undefined ? undefined : readExtras(fields.extras, issues);
  if (instrument === undefined) return undefined;
  return {
    ...instrument,
    ...times,
    ...texts,
    ...(extras === undefined ? {} : { extras }),
    ...readInfo(fields),
  };
}

function readTicker({ fields, prefix, context, issues }: Reading): Instrument | undefined {
  if (fields.ticker !== undefined) return readInstrument(fields.ticker, context, issues);
  return issues.add(`${prefix}ticker`, 'the alert names no ticker', 'add "ticker": "{{ticker}}"');
}

function readGivenText({ fields, issues }: Reading, name: FieldName): string | undefined {
  const field = fields[name];
  if (field === undefined) return undefined;
  return readText(field, rowOf(name).mostCharacters ?? 0, issues) ?? undefined;
}

/** `maxLag` is meaningless without a time. */
function readTimes({ fields, context, issues }: Reading): Pick<Signal, 'timeMs' | 'maxLagMs'> {
  const maxLagMs = fields.maxLag && readMaxLagMs(fields.maxLag, issues);
  if (fields.time !== undefined)
    return {
      timeMs: readTimeMs(fields.time, context, issues) ?? null,
      maxLagMs: maxLagMs ?? context.defaultMaxLagMs,
    };
  if (fields.maxLag !== undefined)
    issues.add(
      fields.maxLag.path,
      'without a time, the age of the alert cannot be compared with maxLag',
      'add "time": "{{timenow}}"',
    );
  return { timeMs: null, maxLagMs: null };
}

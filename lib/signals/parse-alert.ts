import { RelayError } from '../base/errors.ts';
import type { Account } from '../model/account.ts';
import type { Side } from '../model/order.ts';
import type { CommonPart, OwnPart, Signal } from '../model/signal.ts';
import { collectFields, type Field, type Fields } from './fields.ts';
import { hintForForeignAction } from './foreign-words.ts';
import { createIssues, type Issues } from './issues.ts';
import { parseCancel, parseCancelAll, readTarget, refuseTargets } from './parse-cancel.ts';
import { type JsonNode, parseJson } from './parse-json.ts';
import { parseOrder, readOrderValues } from './parse-order.ts';
import { readMaxLagMs } from './read-number.ts';
import { readExplicitId, readExtras, readText, readWord } from './read-text.ts';
import { readTimeMs } from './read-time.ts';
import { type Instrument, readInstrument } from './tickers.ts';

/** What an alert is read against. */
export interface AlertContext {
  /** Ticker as alerts write it → the exchange's market. */
  readonly tickers: Readonly<Record<string, string>>;
  /** How old an alert may be that does not say so itself. */
  readonly defaultMaxLagMs: number;
  readonly nowMs: number;
  /** How far ahead of `nowMs` an alert's time may lie. */
  readonly futureAllowanceMs: number;
  readonly account: Account;
}

/** One instruction of an alert, and the id it gave itself, if it did. */
export interface AlertItem {
  readonly explicitId: string | null;
  readonly signal: Signal;
}

export interface Alert {
  /** Whether the body was an array, be it of one. */
  readonly isArray: boolean;
  /** One to ten, in the order they are to be carried out. */
  readonly items: readonly AlertItem[];
}

/** An alert while it is read: where it stands, what it says, what is wrong with it. */
interface Reading {
  readonly fields: Fields;
  /** For example `[1].`; empty for a lone alert. */
  readonly prefix: string;
  readonly context: AlertContext;
  readonly faults: Issues;
}

type Action = Side | 'cancel' | 'cancel_all';

const mostItems = 10;
const actionWords: Readonly<Record<string, Action>> = {
  buy: 'buy',
  sell: 'sell',
  cancel: 'cancel',
  cancel_all: 'cancel_all',
};
const longestText = { strategy: 128, interval: 16, comment: 512 };

/**
 * Reads the body of an alert: a JSON object, or an array of up to ten.
 *
 * How old it is plays no part here, so that a late resend of a known alert still reads as that alert.
 *
 * @throws RelayError `invalid_json`, or `invalid_signal` with everything that is wrong: where, what, how to mend it
 */
export function parseAlert(body: Uint8Array, context: AlertContext): Alert {
  const root = parseJson(body);
  const faults = createIssues();
  const items = parseItems(root, context, faults);
  if (faults.count > 0) throw refusal(faults);
  return { isArray: root.kind === 'array', items };
}

function refusal({ issues, count }: Issues): RelayError {
  const [first] = issues;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return new RelayError('invalid_signal', `the alert was refused: ${where}${first?.message ?? ''}${more}`, {
    issues,
  });
}

function parseItems(root: JsonNode, context: AlertContext, faults: Issues): readonly AlertItem[] {
  if (root.kind !== 'array') return parseItem(root, '', context, faults);
  if (root.items.length === 0)
    faults.add('', 'the array holds no signal', 'send one object, or an array of up to ten');
  if (root.items.length > mostItems) {
    faults.add('', `the array holds ${root.items.length} signals`, `send at most ${mostItems} in one alert`);
    return [];
  }
  const items = root.items.flatMap((node, index) => parseItem(node, `[${index}]`, context, faults));
  refuseSharedIds(items, faults);
  return items;
}

/** The second of two signals under one id would pass for a resend of the first, and be dropped. */
function refuseSharedIds(items: readonly AlertItem[], faults: Issues): void {
  const ids = items.map(({ explicitId }) => explicitId);
  for (const [index, id] of ids.entries())
    if (id !== null && ids.indexOf(id) < index)
      faults.add(
        `[${index}].id`,
        `[${ids.indexOf(id)}] has the same id`,
        'give every signal an id of its own',
      );
}

/** One item, or none when a fault keeps it from being one. */
function parseItem(node: JsonNode, place: string, context: AlertContext, faults: Issues): AlertItem[] {
  if (node.kind !== 'object') {
    faults.add(place, `the signal is ${kindOf(node)}, not an object`, hintForLoneValue(node));
    return [];
  }
  const prefix = place === '' ? '' : `${place}.`;
  const fields = collectFields(node, prefix, faults);
  const reading: Reading = { fields, prefix, context, faults };
  const action = readAction(reading);
  const common = readCommon(reading);
  const explicitId = readId(reading, action);
  const own = readOwn(reading, action);
  return common === undefined || own === undefined ? [] : [{ explicitId, signal: { ...common, ...own } }];
}

function kindOf(node: JsonNode): string {
  return node.kind === 'null' ? 'null' : `${node.kind === 'array' ? 'an' : 'a'} ${node.kind}`;
}

function hintForLoneValue(node: JsonNode): string {
  return node.kind === 'string' && /^\s*[[{]/.test(node.text)
    ? 'the object stands in quotes, as text; send it as it is, beginning with {'
    : 'send an object with ticker, action and the rest: {"ticker": "{{ticker}}", …}';
}

function readAction({ fields, prefix, faults }: Reading): Action | undefined {
  if (fields.action !== undefined)
    return readWord(fields.action, actionWords, 'an action', faults, hintForForeignAction);
  return faults.add(
    `${prefix}action`,
    'the alert does not say what to do',
    'add "action": "{{strategy.order.action}}", or "buy", "sell", "cancel", "cancel_all"',
  );
}

function readOwn(
  { fields, prefix, context, faults }: Reading,
  action: Action | undefined,
): OwnPart<Signal> | undefined {
  switch (action) {
    case 'buy':
    case 'sell':
      refuseTargets(fields, faults);
      return parseOrder({ fields, side: action, account: context.account, prefix }, faults);
    case 'cancel':
      return parseCancel(fields, prefix, faults);
    case 'cancel_all':
      return parseCancelAll(fields, faults);
    case undefined:
      readOrderValues(fields, faults);
      readTarget(fields, faults);
      return undefined;
  }
}

function readCommon(reading: Reading): CommonPart | undefined {
  const { fields, faults } = reading;
  const instrument = readTicker(reading);
  const times = readTimes(reading);
  const strategy = readGivenText(reading, 'strategy');
  const interval = readGivenText(reading, 'interval');
  const comment = readGivenText(reading, 'comment');
  const extras = fields.extras === undefined ? undefined : readExtras(fields.extras, faults);
  if (instrument === undefined) return undefined;
  return {
    ...instrument,
    ...times,
    ...(strategy === undefined ? {} : { strategy }),
    ...(interval === undefined ? {} : { interval }),
    ...(comment === undefined ? {} : { comment }),
    ...(extras === undefined ? {} : { extras }),
  };
}

function readTicker({ fields, prefix, context, faults }: Reading): Instrument | undefined {
  if (fields.ticker !== undefined) return readInstrument(fields.ticker, context.tickers, faults);
  return faults.add(`${prefix}ticker`, 'the alert names no ticker', 'add "ticker": "{{ticker}}"');
}

function readGivenText({ fields, faults }: Reading, name: keyof typeof longestText): string | undefined {
  const field = fields[name];
  return field === undefined ? undefined : (readText(field, longestText[name], faults) ?? undefined);
}

/** Without a time there is nothing to hold the largest lag against. */
function readTimes({ fields, context, faults }: Reading): Pick<Signal, 'timeMs' | 'maxLagMs'> {
  const maxLagMs = fields.maxLag && readMaxLagMs(fields.maxLag, faults);
  if (fields.time !== undefined)
    return {
      timeMs: readTimeMs(fields.time, context, faults) ?? null,
      maxLagMs: maxLagMs ?? context.defaultMaxLagMs,
    };
  if (fields.maxLag !== undefined)
    faults.add(
      fields.maxLag.path,
      'without a time, the age of the alert cannot be held against maxLag',
      'add "time": "{{timenow}}"',
    );
  return { timeMs: null, maxLagMs: null };
}

/** An alert is told from the next by its own id, or by its bytes, which differ only if they carry the time. */
function readId(reading: Reading, action: Action | undefined): string | null {
  const { fields, prefix, faults } = reading;
  const field = idFieldOf(reading, action);
  if (field !== undefined) return readExplicitId(field, faults) ?? null;
  if (fields.time === undefined)
    faults.add(
      `${prefix}time`,
      'with neither time nor id, a second alert could not be told from a resend of the first',
      'add "time": "{{timenow}}"',
    );
  return null;
}

/** To an order `signalId` is another name of its id; to a cancel it names the signal to undo. */
function idFieldOf({ fields, faults }: Reading, action: Action | undefined): Field | undefined {
  const { id, signalId } = fields;
  if (action !== 'buy' && action !== 'sell') return id;
  if (id !== undefined && signalId !== undefined)
    faults.add(signalId.path, '"id" and "signalId" are names of the same field', 'keep one of them');
  return id ?? signalId;
}

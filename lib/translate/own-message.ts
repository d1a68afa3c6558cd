import type { Issue } from '../base/errors.ts';
import { RelayError } from '../base/errors.ts';
import type { Account } from '../model/account.ts';
import type { OrderKindName } from '../model/order.ts';
import type { FieldName } from '../signals/fields.ts';
import { type AlertContext, parseAlert } from '../signals/parse-alert.ts';
import { isMarketWord } from './text-words.ts';

/** One signal in the words of this relay, every value as text; a list of take-profits as JSON. */
export type OwnMessage = Partial<Record<FieldName, string>>;

/** In which order the fields of a message are written. Others follow as they came. */
const writtenOrder = [
  'ticker',
  'action',
  'orderType',
  'quantity',
  'quoteQuantity',
  'quantityPercent',
  'of',
  'target',
  'stopPrice',
  'limitPrice',
  'stopLoss',
  'takeProfit',
  'takeProfits',
  'trailing',
] as const satisfies readonly FieldName[];

/** TradingView fills it with the time at which the alert fires. */
const timeNow = '{{timenow}}';

/** The message on one line, ready to paste: always with the time that TradingView fills in. */
export function writeMessage(message: OwnMessage): string {
  const members = membersOf(message).map(
    ([name, value]) => `${JSON.stringify(name)}: ${writeValue(name, value)}`,
  );
  return `{${members.join(', ')}}`;
}

/** A list is written as those of the documents, with a space after each comma and colon. */
function writeValue(name: string, value: string): string {
  if (name !== 'takeProfits') return JSON.stringify(value);
  return value.replaceAll(/(?<=[":}]),(?=[{"])|(?<="):(?=")/g, '$& ');
}

/** The value of a member as a document has it. */
export function memberValue(name: string, value: string): unknown {
  return name === 'takeProfits' ? JSON.parse(value) : value;
}

/** One message, or several as an array. */
export function writeMessages(messages: readonly OwnMessage[]): string {
  const texts = messages.map(writeMessage);
  return texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
}

/** The fields in the order in which they are written, the time after those of the order. */
export function membersOf(message: OwnMessage): readonly (readonly [name: string, value: string])[] {
  const { time: _, ...rest } = message;
  const first = writtenOrder.flatMap((name) =>
    rest[name] === undefined ? [] : [[name, rest[name]] as const],
  );
  const names = new Set<string>(writtenOrder);
  const others = Object.entries(rest).filter(([name]) => !names.has(name));
  const isText = ([name]: readonly [string, string]) => name === 'comment' || name === 'strategy';
  return [
    ...first,
    ...others.filter((member) => !isText(member)),
    ['time', timeNow] as const,
    ...others.filter(isText),
  ];
}

/**
 * What the relay's own reader would refuse, with the placeholders filled as TradingView does; empty when it takes the
 * messages.
 *
 * @param messages one signal, or the signals of an array
 */
export function issuesOf(messages: readonly OwnMessage[], context: AlertContext): readonly Issue[] {
  return issuesOfText(writeMessages(messages), context);
}

/** What the relay's own reader would refuse of a message in JSON, with the placeholders filled as TradingView does. */
export function issuesOfText(text: string, context: AlertContext): readonly Issue[] {
  try {
    parseAlert(new TextEncoder().encode(fillPlaceholders(text, context)), context);
    return [];
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return error.issues;
  }
}

/** A value for each placeholder of TradingView. */
const samples: readonly (readonly [name: RegExp, value: string])[] = [
  [/^strategy\.order\.action$/, 'buy'],
  [/^strategy\.(?:prev_)?market_position$/, 'long'],
  [/^strategy\.(?:order\.(?:id|comment|alert_message))$/, 'sample'],
  [/^strategy\.(?:order\.contracts|position_size|(?:prev_)?market_position_size)$/, '0.001'],
  [/^(?:exchange|interval|syminfo\.\w+)$/, 'sample'],
  [/^(?:open|high|low|close|volume|strategy\.order\.price|plot(?:_\d+|\(.*\)))$/, '60000'],
];

/** The text as TradingView would send it: every placeholder that it knows is replaced. */
function fillPlaceholders(text: string, { tickers, nowMs }: AlertContext): string {
  return text.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (placeholder, name: string) => {
    if (name === 'timenow' || name === 'time') return new Date(nowMs).toISOString();
    if (name === 'ticker') return Object.keys(tickers)[0] ?? placeholder;
    return samples.find(([pattern]) => pattern.test(name))?.[1] ?? placeholder;
  });
}

/**
 * The message with what the account needs: the kind of order that its prices mean, where it names none, and a bound for an
 * order at market, where the account has none.
 */
export function completeOrder(message: OwnMessage, account: Account): OwnMessage {
  const { action = '', maxSlippage } = message;
  const placesOrder = /^(?:buy|sell|(?:enter|exit)_|\{\{)/.test(action);
  const complete = placesOrder
    ? { ...message, orderType: message.orderType ?? kindByPrices(message) }
    : message;
  const isAtMarket = placesOrder
    ? isMarketWord(complete.orderType ?? '')
    : /^(?:close|reverse|target)$/.test(action);
  const needsBound = account.maxSlippageRate === null && !account.allowUnguardedMarket;
  return isAtMarket && needsBound && maxSlippage === undefined
    ? { ...complete, maxSlippage: usualBound }
    : complete;
}

/** As in the messages that `relay webhook` prints. */
const usualBound = '0.5%';

function kindByPrices({ stopPrice, limitPrice }: OwnMessage): OrderKindName {
  if (stopPrice !== undefined) return limitPrice === undefined ? 'stop_market' : 'stop_limit';
  return limitPrice === undefined ? 'market' : 'limit';
}

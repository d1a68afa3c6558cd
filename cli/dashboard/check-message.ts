import type { MessageCheck } from '../../dashboard/documents.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Account } from '../../lib/model/account.ts';
import { type AlertContext, parseAlert } from '../../lib/signals/parse-alert.ts';
import type { Session } from '../session/session.ts';
import { previewSignal, readShownPrice } from './preview-order.ts';

/** What a strategy might have to say: it enters a long position. */
const sampleTexts: Readonly<Record<string, string>> = {
  exchange: 'WHITEBIT',
  interval: '60',
  volume: '12.5',
  'strategy.order.action': 'buy',
  'strategy.order.contracts': '0.001',
  'strategy.order.id': 'Long',
  'strategy.order.comment': 'Long',
  'strategy.order.alert_message': 'Long',
  'strategy.market_position': 'long',
  'strategy.market_position_size': '0.001',
  'strategy.prev_market_position': 'flat',
  'strategy.prev_market_position_size': '0',
  'strategy.position_size': '0.001',
};

/** Placeholders that are a price of the market. */
const priceNames = /^(?:open|high|low|close|strategy\.order\.price|plot_\d+|plot\(.*\))$/;

const anyPlaceholder = /\{\{\s*([^{}]+?)\s*\}\}/g;

export interface Sample {
  readonly ticker: string;
  /** Null: unknown. */
  readonly price: string | null;
  readonly nowMs: number;
  /** Values that the user chose, by placeholder. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Puts a value into each placeholder, as TradingView does; one that it does not know stays. */
export function fillPlaceholders(message: string, { ticker, price, nowMs, values = {} }: Sample): string {
  const now = new Date(nowMs).toISOString().replace(/\.\d+/, '');
  return message.replaceAll(anyPlaceholder, (whole: string, name: string) => {
    if (Object.hasOwn(values, name)) return values[name] ?? whole;
    if (name === 'ticker') return ticker;
    if (name === 'time' || name === 'timenow') return now;
    if (priceNames.test(name)) return price ?? '1';
    return Object.hasOwn(sampleTexts, name) ? (sampleTexts[name] ?? whole) : whole;
  });
}

/** What the user chose for the placeholders; the rest has sample values. */
export interface SampleChoice {
  readonly ticker?: string | undefined;
  readonly values?: Readonly<Record<string, string>> | undefined;
}

/** Puts the values that were chosen into a message, and the price of the market and samples for the others. */
export async function fillWithSamples(
  session: Session,
  account: Account,
  message: string,
  { ticker: chosen, values = {} }: SampleChoice,
): Promise<string> {
  const { tickers } = session.settings;
  const ticker = chosen ?? firstTickerOf(tickers, account);
  const price = await readShownPrice(session, tickers[ticker] ?? '');
  return fillPlaceholders(message, { ticker, price, nowMs: session.clock.nowMs(), values });
}

/** Reads a message as the relay would, with sample values for its placeholders, and says what it becomes. Nothing is sent. */
export async function checkMessage(
  session: Session,
  account: Account,
  message: string,
  chosen: SampleChoice = {},
): Promise<MessageCheck> {
  const filled = await fillWithSamples(session, account, message, chosen);
  const context = contextOf(session, account);
  try {
    const { items } = parseAlert(Buffer.from(filled), context);
    const signals = items.flatMap(({ reduceLeg, signal }) =>
      reduceLeg === undefined ? [signal] : [reduceLeg, signal],
    );
    const previews = await Promise.all(signals.map((signal) => previewSignal(session, account, signal)));
    return { filled, issues: [], previews };
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    const issues =
      error.issues.length > 0 ? error.issues : [{ path: '', message: error.message, hint: error.row.action }];
    return { filled, issues, previews: [] };
  }
}

/** What the relay's own reader needs. */
export function contextOf({ settings, clock }: Session, account: Account): AlertContext {
  const { tickers, defaultMaxLagMs } = settings;
  return { account, tickers, defaultMaxLagMs, nowMs: clock.nowMs(), futureAllowanceMs: 60_000 };
}

/** A ticker that the account may trade. */
function firstTickerOf(tickers: Readonly<Record<string, string>>, { markets }: Account): string {
  const entries = Object.entries(tickers);
  return (entries.find(([, market]) => Object.hasOwn(markets, market)) ?? entries[0])?.[0] ?? '';
}

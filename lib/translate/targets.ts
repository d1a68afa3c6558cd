import { plainWord } from '../signals/foreign-words.ts';
import type { MessageDraft, Word } from './draft.ts';
import { ratioAsPercent } from './ratio.ts';

/** The lists in which other relays write several take-profits: `take_profit.steps.0.price_percent`. */
const listed = /^(takeprofits?|tps|targets|takeprofit\.steps)\.(\d+)(?:\.(.+))?$/;

type Reader = (value: string) => string | undefined;

const same: Reader = (value) => value;
const percent: Reader = (value) => (/^\d*\.?\d+%?$/.test(value) ? `${value.replace(/%$/, '')}%` : undefined);

const prices: ReadonlyMap<string, Reader> = new Map([
  ['', same],
  ['price', same],
  ['limitprice', same],
  ['percent', percent],
  ['pricepercent', percent],
  ['takeprofitpercent', percent],
  ['pricedeviation', ratioAsPercent],
]);
const shares: ReadonlyMap<string, Reader> = new Map([
  ['share', percent],
  ['volumepercent', percent],
  ['portfolio', ratioAsPercent],
]);

/** Whether a value belongs to a list of take-profits. */
export function isOfTargets({ name }: Word): boolean {
  return listed.test(plainWord(name));
}

interface Target {
  readonly prices: (string | undefined)[];
  readonly shares: (string | undefined)[];
}

/**
 * What a list of take-profits is here: the one `takeProfit`, or `takeProfits`, each with its share. Without its share, nobody
 * knows how much each of several is to sell.
 *
 * @param words those of the list
 */
export function takeTargets(words: readonly Word[], draft: MessageDraft): void {
  if (words.length === 0) return;
  const targets = new Map<string, Target>();
  for (const word of words) {
    const [, , index = '', member = ''] = listed.exec(plainWord(word.name)) ?? [];
    const target = targets.get(index) ?? { prices: [], shares: [] };
    targets.set(index, target);
    if (prices.has(member)) target.prices.push(prices.get(member)?.(word.value));
    else if (shares.has(member)) target.shares.push(shares.get(member)?.(word.value));
    draft.leave(word, noteOf(member));
  }
  const all = [...targets.values()].map((target) => ({
    // Of two prices, one may be a share.
    price: target.prices.length === 1 ? target.prices[0] : undefined,
    share: target.shares.length < 2 ? target.shares[0] : undefined,
  }));
  const [only] = all;
  const whole =
    all.length === 1 && (only?.share === undefined || only.share === '100%') ? only?.price : undefined;
  const parts = all.flatMap(({ price, share }) =>
    price === undefined || share === undefined ? [] : [{ price, share }],
  );
  if (whole !== undefined) draft.take({ name: 'the take-profit', value: '' }, { takeProfit: whole });
  else if (parts.length === all.length)
    draft.take({ name: 'the take-profits', value: '' }, { takeProfits: JSON.stringify(parts) });
  else if (all.length === 1) draft.lack('"takeProfit" as a price, or as a distance such as "2%"');
  else
    draft.lack(
      'each of the take-profits with its share: "takeProfits": [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]',
    );
}

function noteOf(member: string): string {
  if (prices.has(member)) return 'is the price of a take-profit';
  if (shares.has(member)) return 'is the share of a take-profit';
  return member === 'ordertype'
    ? 'a take-profit is a limit order here'
    : 'LOST: it is no part of a take-profit here';
}

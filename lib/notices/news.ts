import type { LedgerChange } from '../ledger/ledger-change.ts';
import type { NoticeCategory } from './notice-settings.ts';

/** One thing that is worth telling. Its texts hold no line breaks, and nothing is escaped yet. */
export interface News {
  /** The same for the same news, however often and by whatever it is reported. */
  readonly key: string;
  readonly category: NoticeCategory;
  /** Null: it concerns no single account. */
  readonly account: string | null;
  /** Null: not known. */
  readonly atMs: number | null;
  /** What happened, in one sentence. */
  readonly headline: string;
  /** What explains it; empty when there is nothing to add. */
  readonly detail: string;
  /** Whether it is told by itself, however much else there is to tell. */
  readonly isSingle: boolean;
}

const oncePrefix = 'once ';

/** The key of news that comes once only. @param change what it tells; @param part which of its news, if it has several */
export function onceKey({ kind, id }: Pick<LedgerChange, 'kind' | 'id'>, part = ''): string {
  return `${oncePrefix}${kind} ${id} ${part}`;
}

/** Whether news comes once only, and not again when the same is reported again. */
export function comesOnce(key: string): boolean {
  return key.startsWith(oncePrefix);
}

const mostHeadline = 160;
/** In UTF-16 units: what is longer is cut. */
export const mostDetail = 400;

/** Makes texts fit for a notice: one line each, and short. */
export function createNews(news: News): News {
  return {
    ...news,
    headline: flatten(news.headline, mostHeadline),
    detail: flatten(news.detail, mostDetail),
  };
}

/** Control characters could forge lines; those that turn the direction of writing could forge what a line says. */
const unfit = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

function flatten(text: string, most: number): string {
  return cut(text.replace(unfit, ' ').replaceAll(/ {2,}/g, ' ').trim(), most);
}

/** Shortens a text to so many UTF-16 units, without cutting a character in two. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most - 1));
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

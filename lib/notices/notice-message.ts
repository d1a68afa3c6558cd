import { hash } from 'node:crypto';
import type { News } from './news.ts';
import { type NoticeCategory, noticeCategories } from './notice-settings.ts';

/** What one request tells. Nothing is escaped yet: each channel does that for itself. */
export interface NoticeMessage {
  /** The same when the same news are sent again. */
  readonly id: string;
  readonly title: string;
  /** One line each. */
  readonly lines: readonly string[];
  readonly isSilent: boolean;
  /** Whether any of it is an alarm, a pause or an unknown outcome. */
  readonly isUrgent: boolean;
  readonly news: readonly News[];
}

/** More other news than this are counted, not listed. */
const mostListed = 8;
/** News that are told later than this say when they happened. */
const lateMs = 120_000;

/**
 * Writes one message of all these news: what stands by itself first and whole, then the others, or how many they are.
 *
 * @param news at least one
 */
export function writeNotice(news: readonly News[], isSilent: boolean, nowMs: number): NoticeMessage {
  const single = news.filter(({ isSingle }) => isSingle);
  const others = news.filter(({ isSingle }) => !isSingle);
  const facts = {
    id: hash('sha256', news.map(({ key }) => key).join('\n'), 'hex').slice(0, 32),
    isSilent,
    isUrgent: single.some(({ category }) => category !== 'heartbeat'),
    news,
  };
  const [only] = news;
  if (only !== undefined && news.length === 1)
    return { ...facts, title: headlineOf(only, nowMs), lines: only.detail === '' ? [] : [only.detail] };
  return {
    ...facts,
    title: `${news.length} notices: ${countByCategory(news)}`,
    lines: [
      ...single.map((one) => lineOf(one, nowMs)),
      ...(others.length > mostListed ? countByAccount(others) : others.map((one) => lineOf(one, nowMs))),
    ],
  };
}

function headlineOf({ account, headline, atMs }: News, nowMs: number): string {
  const late =
    atMs !== null && nowMs - atMs > lateMs
      ? ` (at ${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC)`
      : '';
  return `${account === null ? '' : `${account} · `}${headline}${late}`;
}

function lineOf(news: News, nowMs: number): string {
  return `${headlineOf(news, nowMs)}${news.detail === '' ? '' : ` — ${news.detail}`}`;
}

function countByCategory(news: readonly News[]): string {
  const counts = Map.groupBy(news, ({ category }) => category);
  return noticeCategories
    .filter((category) => counts.has(category))
    .map((category) => `${counts.get(category)?.length} ${nounOf(category)}`)
    .join(', ');
}

function nounOf(category: NoticeCategory): string {
  return category === 'protection' ? 'on protection' : category;
}

function countByAccount(news: readonly News[]): readonly string[] {
  const byAccount = Map.groupBy(news, ({ account }) => account ?? '');
  return [...byAccount].map(
    ([account, own]) => `${account} · ${countByCategory(own)}; \`npx relay signals\` lists them`,
  );
}

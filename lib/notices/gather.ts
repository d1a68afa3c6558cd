import type { News } from './news.ts';
import { type NoticeMessage, writeNotice } from './notice-message.ts';
import { levelOf, type NoticeSettings } from './notice-settings.ts';

export interface GatherRules {
  readonly settings: NoticeSettings;
  readonly nowMs: number;
  /** Whether the same news was told a short time ago. */
  isTold(key: string): boolean;
  /** Whether one request of the channel can tell it. */
  fits(message: NoticeMessage): boolean;
}

export interface Gathered {
  /** Null: nothing of it is to be told. */
  readonly message: NoticeMessage | null;
  /** How many changes it covers, from the first on. */
  readonly count: number;
}

/** News that nobody was told for so long are counted out: what stands by itself is told all the same. */
const staleMs = 86_400_000;

/**
 * Gathers the news of as many changes as one message can tell: a flood becomes one. Nothing is left out: where the next news
 * does not fit any more, the rest waits for the next message.
 *
 * @param changes the news of each change, in the order of the changes
 */
export function gather(changes: readonly (readonly News[])[], rules: GatherRules): Gathered {
  let [taken, count]: [readonly News[], number] = [[], 0];
  let message: NoticeMessage | null = null;
  for (const news of changes) {
    const fresh = news.filter((one) => isWorthTelling(one, taken, rules));
    if (fresh.length > 0) {
      const more = [...taken, ...fresh];
      const next = writeNotice(more, isSilent(more, rules.settings), rules.nowMs);
      if (message !== null && !rules.fits(next)) break;
      [taken, message] = [more, next];
    }
    count += 1;
  }
  return { message, count };
}

function isWorthTelling(
  { key, account, category, atMs, isSingle }: News,
  taken: readonly News[],
  { settings, nowMs, isTold }: GatherRules,
): boolean {
  if (levelOf(settings, account, category) === 'off') return false;
  if (!isSingle && atMs !== null && nowMs - atMs > staleMs) return false;
  return !isTold(key) && !taken.some((other) => other.key === key);
}

function isSilent(news: readonly News[], settings: NoticeSettings): boolean {
  return news.every(({ account, category }) => levelOf(settings, account, category) === 'silent');
}

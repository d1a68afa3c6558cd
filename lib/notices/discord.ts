import { fieldsOf, type Json, numberIn, readJson } from '../base/json.ts';
import { type Channel, isSafeUrl, judgeStatus, requestTo, secondsIn, waitFor } from './channel.ts';
import { cut } from './news.ts';
import type { NoticeMessage } from './notice-message.ts';

const mostCharacters = 2_000;
/** Bits of a message's flags. */
const suppressEmbeds = 1 << 2;
const suppressNotifications = 1 << 12;

/**
 * A webhook of a channel. `allowed_mentions` with an empty `parse` lets no text mention anybody; the marks of Markdown are
 * escaped by a backslash. With `wait=true` the answer comes after the message was stored.
 *
 * The content has at most 2,000 characters. Beyond the rate limit the answer is 429 with `retry_after` in seconds, and its
 * limits are not fixed. A URL without a version means an old version of the API, in which that is in milliseconds: so version
 * 10 is named.
 *
 * @see https://docs.discord.com/developers/resources/webhook#execute-webhook
 * @see https://docs.discord.com/developers/resources/message#allowed-mentions-object
 * @see https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit (all read 2026-11-24)
 */
export const discord: Channel = {
  name: 'discord',
  fields: [
    {
      name: 'url',
      question: 'URL of the webhook (https://discord.com/api/webhooks/…)',
      isRequired: true,
      isFit: isSafeUrl,
    },
  ],
  fits: (message) => textOf(message).length <= mostCharacters,
  compose(message, { url = '' }) {
    const target = new URL(url.replace('/api/webhooks/', '/api/v10/webhooks/'));
    target.searchParams.set('wait', 'true');
    return requestTo(target.href, {
      content: textWithin(message),
      allowed_mentions: { parse: [] },
      flags: suppressEmbeds | (message.isSilent ? suppressNotifications : 0),
    });
  },
  judge(answer) {
    if (answer.status !== 429) return judgeStatus(answer);
    const { retry_after: seconds } = fieldsOf(readJson(answer.body) as Json | undefined);
    return waitFor(numberIn(seconds) ?? secondsIn(answer));
  },
};

function textOf({ title, lines }: Pick<NoticeMessage, 'title' | 'lines'>): string {
  return [`**${escapeMarkdown(title)}**`, ...lines.map(escapeMarkdown)].join('\n');
}

function textWithin(message: NoticeMessage): string {
  const text = textOf(message);
  if (text.length <= mostCharacters) return text;
  const plain = cut([message.title, ...message.lines].join('\n'), Math.floor(mostCharacters / 2));
  return escapeMarkdown(plain);
}

/** Each mark that begins or ends a format, and what begins a mention, a list, a heading or a link. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\*_~`|<>#[\]()@:-]/g, '\\$&');
}

import { type Channel, isSafeUrl, judgeStatus, requestTo } from './channel.ts';
import { cut } from './news.ts';
import type { NoticeMessage } from './notice-message.ts';
import { escapeHtml } from './telegram.ts';

/** Slack recommends at most 4,000 characters, and cuts a text of more than 40,000. */
const mostCharacters = 4_000;

/**
 * An incoming webhook. `&`, `<` and `>` begin links and mentions, so they are escaped; `mrkdwn: false` leaves every other
 * character as it is, such as the underscores of a market.
 *
 * One message a second; beyond that the answer is 429 with the header `Retry-After` in seconds. There is no silent message:
 * what sounds is a setting of the reader.
 *
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * @see https://docs.slack.dev/messaging/formatting-message-text#escaping
 * @see https://docs.slack.dev/apis/web-api/rate-limits (all read 2026-11-24)
 */
export const slack: Channel = {
  name: 'slack',
  fields: [
    {
      name: 'url',
      question: 'URL of the incoming webhook (https://hooks.slack.com/services/…)',
      isRequired: true,
      isFit: isSafeUrl,
    },
  ],
  fits: (message) => textOf(message).length <= mostCharacters,
  compose(message, { url = '' }) {
    return requestTo(url, {
      text: textWithin(message),
      mrkdwn: false,
      unfurl_links: false,
      unfurl_media: false,
    });
  },
  judge: judgeStatus,
};

function textOf({ title, lines }: Pick<NoticeMessage, 'title' | 'lines'>): string {
  return escapeHtml([title, ...lines].join('\n'));
}

function textWithin(message: NoticeMessage): string {
  const text = textOf(message);
  if (text.length <= mostCharacters) return text;
  const plain = cut([message.title, ...message.lines].join('\n'), Math.floor(mostCharacters / 5));
  return escapeHtml(plain);
}

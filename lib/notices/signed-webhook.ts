import { createHmac } from 'node:crypto';
import { type Channel, isSafeUrl, judgeStatus, requestTo } from './channel.ts';

/** Receivers need not take more. */
const mostBytes = 20_000;
const prefix = 'whsec_';

/**
 * A request to a server of one's own, signed as Standard Webhooks says: HMAC-SHA256 over id, time and body. The id is the same
 * when the same news come again.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md (read 2026-11-24)
 */
export const signedWebhook: Channel = {
  name: 'webhook',
  fields: [
    { name: 'url', question: 'URL', isRequired: true, isFit: isSafeUrl },
    {
      name: 'key',
      question: `Signing key: ${prefix} and 24 to 64 bytes in base64`,
      isRequired: true,
      isFit: isKey,
    },
  ],
  fits: (message) => bodyOf(message, 0).length <= mostBytes,
  compose(message, { url = '', key = '' }, atMs) {
    const seconds = String(Math.floor(atMs / 1000));
    const body = bodyOf(message, atMs);
    const request = requestTo(url, {});
    const id = `msg_${message.id}`;
    const signature = createHmac('sha256', Buffer.from(key.slice(prefix.length), 'base64'))
      .update(`${id}.${seconds}.${body}`)
      .digest('base64');
    const headers = {
      ...request.headers,
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${signature}`,
    };
    return { ...request, headers, body };
  },
  judge: judgeStatus,
};

function isKey(text: string): boolean {
  if (!text.startsWith(prefix) || !/^[A-Za-z0-9+/]+={0,2}$/.test(text.slice(prefix.length))) return false;
  const { length } = Buffer.from(text.slice(prefix.length), 'base64');
  return length >= 24 && length <= 64;
}

function bodyOf(message: Parameters<Channel['compose']>[0], atMs: number): string {
  const { title, lines, isSilent, isUrgent, news } = message;
  return JSON.stringify({
    type: 'relay.notices',
    timestamp: new Date(atMs).toISOString(),
    data: {
      title,
      lines,
      isSilent,
      isUrgent,
      notices: news.slice(0, 30).map(({ category, account, atMs: at, headline, detail }) => ({
        category,
        account,
        atMs: at,
        headline,
        detail,
      })),
    },
  });
}

import { type Channel, isSafeUrl, judgeStatus, requestTo } from './channel.ts';
import { cut } from './news.ts';
import type { NoticeMessage } from './notice-message.ts';

const mostMessageBytes = 4_096;
/** A longer title is refused. */
const mostTitleBytes = 1_024;
const publicServer = 'https://ntfy.sh';

/** Priorities: 2 makes no sound, 3 is the usual one, 4 sounds longer. */
const priorities = { silent: 2, usual: 3, urgent: 4 } as const;

/**
 * Publishes as JSON, because headers would have to be ASCII. Nothing is escaped: the text is no Markdown.
 *
 * A message has at most 4,096 bytes; a longer one becomes an attachment. A title has at most 1 KB. The public server takes 60
 * requests at once and then one in 5 seconds, and 250 messages a day.
 *
 * @see https://docs.ntfy.sh/publish/#publish-as-json
 * @see https://docs.ntfy.sh/publish/#message-priority
 * @see https://docs.ntfy.sh/publish/#limitations (all read 2026-11-24)
 */
export const ntfy: Channel = {
  name: 'ntfy',
  fields: [
    {
      name: 'topic',
      question: 'Topic; whoever knows it reads along',
      isRequired: true,
      isFit: (text) => /^[\w-]{1,64}$/.test(text),
    },
    {
      name: 'token',
      question: 'Access token (empty: none)',
      isRequired: false,
      isFit: (text) => /^tk_\w{8,}$/.test(text),
    },
    { name: 'server', question: `Server (empty: ${publicServer})`, isRequired: false, isFit: isSafeUrl },
  ],
  fits: (message) => Buffer.byteLength(textOf(message)) <= mostMessageBytes,
  compose(message, { topic = '', token, server = publicServer }) {
    const { isSilent, isUrgent } = message;
    const priority = isSilent ? priorities.silent : isUrgent ? priorities.urgent : priorities.usual;
    const body = {
      topic,
      title: cutBytes(message.title, mostTitleBytes),
      message: cutBytes(textOf(message), mostMessageBytes),
      priority,
    };
    return requestTo(`${server}/`, body, token === undefined ? {} : { authorization: `Bearer ${token}` });
  },
  judge: judgeStatus,
};

/** An empty message would be shown as "triggered". */
function textOf({ title, lines }: Pick<NoticeMessage, 'title' | 'lines'>): string {
  return lines.length === 0 ? title : lines.join('\n');
}

function cutBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  // A UTF-16 unit takes three bytes at most.
  return cut(text, Math.floor(most / 3));
}

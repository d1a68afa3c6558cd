import { fieldsOf, type Json, numberIn, readJson, textIn } from '../base/json.ts';
import { type Channel, isSafeUrl, judgeStatus, requestTo, waitFor } from './channel.ts';
import { cut } from './news.ts';
import type { NoticeMessage } from './notice-message.ts';

/** Of the text as it is shown. With all its escapes the text stays below it, so that it does whatever is counted. */
const mostCharacters = 4096;
const ownServer = 'https://api.telegram.org';

/**
 * A bot's message to one chat. The text is HTML, in which only `<`, `>` and `&` are escaped. In plain text the apps make links
 * of addresses, names, commands and numbers by themselves; in code they never do, so a line that has any of them is code.
 *
 * A text has at most 4,096 characters. A chat takes one message a second, a group 20 a minute; beyond that the answer is 429
 * with `parameters.retry_after` in seconds. `disable_notification` sends without a sound.
 *
 * @see https://core.telegram.org/bots/api#sendmessage
 * @see https://core.telegram.org/bots/api#html-style
 * @see https://core.telegram.org/bots/api#responseparameters
 * @see https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this (all read 2026-11-24)
 */
export const telegram: Channel = {
  name: 'telegram',
  fields: [
    {
      name: 'botToken',
      question: 'Bot token, from @BotFather',
      isRequired: true,
      isFit: (text) => /^\d+:[\w-]{20,}$/.test(text),
    },
    {
      name: 'chatId',
      question: 'Chat id: a number, or @channelname',
      isRequired: true,
      isFit: (text) => /^(?:-?\d{1,20}|@\w{4,32})$/.test(text),
    },
    { name: 'server', question: `Server (empty: ${ownServer})`, isRequired: false, isFit: isSafeUrl },
  ],
  fits: (message) => textOf(message).length <= mostCharacters,
  compose(message, { botToken = '', chatId = '', server = ownServer }) {
    return requestTo(`${server}/bot${botToken}/sendMessage`, {
      chat_id: chatId,
      text: textWithin(message),
      parse_mode: 'HTML',
      disable_notification: message.isSilent,
      link_preview_options: { is_disabled: true },
    });
  },
  judge(answer) {
    const { description, parameters } = fieldsOf(readJson(answer.body) as Json | undefined);
    if (answer.status === 429) return waitFor(numberIn(fieldsOf(parameters)['retry_after']) ?? Number.NaN);
    const judged = judgeStatus(answer);
    const says = textIn(description);
    return judged.kind === 'failed' && says !== null
      ? { kind: 'failed', reason: `${judged.reason}: ${cut(says, 200)}` }
      : judged;
  },
};

function textOf({ title, lines }: Pick<NoticeMessage, 'title' | 'lines'>): string {
  const head = canLink(title) ? codeOf(title) : `<b>${escapeHtml(title)}</b>`;
  return [head, ...lines.map((line) => (canLink(line) ? codeOf(line) : escapeHtml(line)))].join('\n');
}

function textWithin(message: NoticeMessage): string {
  const text = textOf(message);
  if (text.length <= mostCharacters) return text;
  // Cut before it is escaped, so that no entity is cut in two; each character may become five.
  const plain = cut(
    [message.title, ...message.lines].join('\n'),
    Math.floor((mostCharacters - codeOf('').length) / 5),
  );
  return canLink(plain) ? codeOf(plain) : escapeHtml(plain);
}

/** An address, a domain, an e-mail address, `@name`, `#tag`, `$TAG`, `/command`, or a telephone number. */
function canLink(text: string): boolean {
  return /:\/\/|[@#$/][\p{L}\p{N}_]|[\p{L}\p{N}-]\.\p{L}|\+\d/u.test(text);
}

function codeOf(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

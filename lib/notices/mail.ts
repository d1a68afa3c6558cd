import { cut } from './news.ts';
import type { NoticeMessage } from './notice-message.ts';

/** SNS takes less than 100 characters of ASCII without control characters, which begin with a letter, a digit or a mark. */
const mostSubject = 99;
/** SNS takes 256 KB; nobody reads so much. */
const mostText = 10_000;

/**
 * A mail as a topic of SNS sends it to its subscribers. Nothing is escaped: it is plain text.
 *
 * @see https://docs.aws.amazon.com/sns/latest/api/API_Publish.html (read 2026-11-24)
 */
export function composeMail({ title, lines }: NoticeMessage): {
  readonly subject: string;
  readonly text: string;
} {
  const ascii = title
    .replaceAll('·', '-')
    .replaceAll('…', '...')
    .replaceAll(/[^\x20-\x7e]/g, '?');
  return {
    subject: `Relay: ${ascii}`.slice(0, mostSubject),
    text: cut([title, ...lines].join('\n\n'), mostText),
  };
}

export function fitsMail(message: NoticeMessage): boolean {
  return [message.title, ...message.lines].join('\n\n').length <= mostText;
}

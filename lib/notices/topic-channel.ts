import { type AwsAccess, createSignedPost } from '../base/aws-client.ts';
import type { WireOutcome } from '../base/wire.ts';
import { type Sent, waitFor } from './channel.ts';
import { composeMail, fitsMail } from './mail.ts';
import type { OpenChannel } from './tell-channel.ts';

const contentType = 'application/x-www-form-urlencoded; charset=utf-8';

/**
 * Mails through a topic of SNS, to those who have confirmed its subscription.
 *
 * @see https://docs.aws.amazon.com/sns/latest/api/API_Publish.html (read 2026-11-24)
 * @see https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
 */
export function openTopicChannel(access: AwsAccess, topicArn: string): OpenChannel {
  return {
    fits: fitsMail,
    async send(message) {
      const { subject, text } = composeMail(message);
      const fields = {
        Action: 'Publish',
        Version: '2010-03-31',
        TopicArn: topicArn,
        Subject: subject,
        Message: text,
      };
      const post = createSignedPost('sns', access);
      return judge(await post({ 'content-type': contentType }, new URLSearchParams(fields).toString()));
    },
  };
}

function judge(outcome: WireOutcome): Sent {
  if (outcome.kind !== 'answered') return { kind: 'failed', reason: `no answer: ${outcome.reason}` };
  if (outcome.status === 200) return { kind: 'sent' };
  const [, code = `HTTP ${outcome.status}`] = /<Code>(\w+)<\/Code>/.exec(outcome.body) ?? [];
  if (code === 'Throttling' || code === 'Throttled') return waitFor(Number.NaN);
  return { kind: 'failed', reason: `it answered ${code}` };
}

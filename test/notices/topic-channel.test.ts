import { afterEach, expect, test } from '@jest/globals';
import { createTransport } from '../../lib/base/transport.ts';
import type { NoticeMessage } from '../../lib/notices/notice-message.ts';
import { openTopicChannel } from '../../lib/notices/topic-channel.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

let sns: ScriptedServer;
const transport = createTransport();
afterEach(() => sns.close());

const topic = 'arn:aws:sns:eu-central-1:111122223333:alarms';
const message: NoticeMessage = {
  id: 'a',
  title: `main · bought ₿ & ${'x'.repeat(120)}`,
  lines: ['first & second=1', 'third'],
  isSilent: false,
  isUrgent: false,
  news: [],
};

async function send(status: number, body: string) {
  sns = await startScriptedServer([{ status, body }]);
  const credentials = async () => ({ accessKeyId: 'AKID', secretAccessKey: 'secret' });
  const access = {
    transport,
    region: 'eu-central-1',
    endpoint: sns.url,
    credentials,
    connectTimeoutMs: 1_000,
    timeoutMs: 2_000,
  };
  return await openTopicChannel(access, topic).send(message);
}

test('a notice is one signed request to the topic, with a subject of fewer than 100 characters of ASCII', async () => {
  expect(await send(200, '<PublishResponse/>')).toEqual({ kind: 'sent' });
  const [request] = sns.seen;
  const fields = new URLSearchParams(request?.body);

  expect(sns.seen).toHaveLength(1);
  expect(request?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/sns\/aws4_request, SignedHeaders=.*host/,
  );
  expect(fields.get('Action')).toBe('Publish');
  expect(fields.get('TopicArn')).toBe(topic);
  expect(fields.get('Subject')).toMatch(/^Relay: main - bought \? & x+$/);
  expect(fields.get('Subject')?.length).toBeLessThan(100);
  expect(fields.get('Message')).toBe([message.title, ...message.lines].join('\n\n'));
});

test.each([
  [
    403,
    '<Error><Code>AuthorizationError</Code></Error>',
    { kind: 'failed', reason: 'it answered AuthorizationError' },
  ],
  [
    400,
    '<Error><Code>Throttled</Code></Error>',
    { kind: 'wait', forMs: 30_000, reason: 'it asks to wait 30 s' },
  ],
  [500, 'oops', { kind: 'failed', reason: 'it answered HTTP 500' }],
])('an answer of %i with %s is judged', async (status, body, sent) => {
  expect(await send(status, body)).toEqual(sent);
});

import type { Transport, WireOutcome } from '../base/wire.ts';
import { type Channel, retryHeader, type Sent, type Way } from './channel.ts';
import type { NoticeMessage } from './notice-message.ts';

/** A service that does not answer must not hold up the others. */
const times = { connectTimeoutMs: 5_000, timeoutMs: 10_000 } as const;

/**
 * Sends one message by one request. What failed may have arrived all the same: it is sent again, so a notice comes twice rather
 * than never.
 */
export async function sendNotice(
  channel: Channel,
  way: Way,
  message: NoticeMessage,
  { transport, nowMs }: { readonly transport: Transport; readonly nowMs: number },
): Promise<Sent> {
  const request = channel.compose(message, way, nowMs);
  const outcome = await transport.send({
    ...request,
    method: 'POST',
    ...times,
    wantedHeaders: [retryHeader],
  });
  const sent = judge(channel, outcome);
  return sent.kind === 'sent' ? sent : { ...sent, reason: withoutSecrets(sent.reason, way) };
}

function judge(channel: Channel, outcome: WireOutcome): Sent {
  if (outcome.kind === 'answered') return channel.judge(outcome);
  return { kind: 'failed', reason: `no answer: ${outcome.reason}` };
}

/** A service may quote what it was sent. */
function withoutSecrets(reason: string, way: Way): string {
  const values = Object.values(way).filter((value) => value.length >= 4);
  return values.reduce((text, value) => text.replaceAll(value, '…'), reason);
}

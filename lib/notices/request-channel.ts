import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import type { Transport, WireOutcome } from '../base/wire.ts';
import { type Channel, retryHeader, type Sent, type Way } from './channel.ts';
import { channels, type RequestChannelName, type Ways } from './channels.ts';
import type { NoticeMessage } from './notice-message.ts';
import type { OpenChannel } from './tell-channel.ts';

/** A service that does not answer must not hold up the others. */
const times = { connectTimeoutMs: 5_000, timeoutMs: 10_000 } as const;

/**
 * Opens a channel that is reached by a request.
 *
 * @throws RelayError `secrets_missing` when nobody has said how it is reached
 */
export function openRequestChannel(
  name: RequestChannelName,
  ways: Ways,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
): OpenChannel {
  const way = ways[name];
  if (way === undefined)
    throw new RelayError(
      'secrets_missing',
      `nobody has said how ${name} is reached: \`npx relay notify set ${name}\` asks for it`,
    );
  const channel = channels[name];
  return {
    fits: (message) => channel.fits(message),
    send: (message) => sendNotice(channel, way, message, { transport, nowMs: clock.nowMs() }),
  };
}

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

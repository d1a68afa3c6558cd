import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import type { Transport } from '../base/wire.ts';
import { channels, type RequestChannelName, type Ways } from './channels.ts';
import { sendNotice } from './send-notice.ts';
import type { OpenChannel } from './tell-channel.ts';

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

import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerChange } from '../ledger/ledger-change.ts';
import type { Sent } from './channel.ts';
import { afterFailure, afterSending, type ChannelState, recallTold } from './channel-state.ts';
import { type GatherRules, gather } from './gather.ts';
import { comesOnce } from './news.ts';
import type { NoticeMessage } from './notice-message.ts';
import type { ChannelName, NoticeSettings } from './notice-settings.ts';
import { tellChange } from './tell-change.ts';
import { openerKeyOf } from './tell-execution.ts';

/** A channel that is set up: what it can tell in one request, and how. */
export interface OpenChannel {
  fits(message: NoticeMessage): boolean;
  send(message: NoticeMessage): Promise<Sent>;
}

export interface ChannelServices {
  readonly clock: Clock;
  readonly settings: NoticeSettings;
  readonly ledger: Pick<Ledger, 'read'>;
}

export interface ToldPart {
  /** The state to be stored. */
  readonly state: ChannelState;
  /** How many of the changes were told or passed over, from the first on; none when the request failed. */
  readonly count: number;
}

/**
 * Tells the first of these changes, as many as one message can tell, by one request at most.
 *
 * @param changes in their order; null for one that can no longer be read
 */
export async function tellOnce(
  channel: OpenChannel,
  state: ChannelState,
  changes: readonly (LedgerChange | null)[],
  { clock, settings, ledger }: ChannelServices,
): Promise<ToldPart> {
  const nowMs = clock.nowMs();
  const rules: GatherRules = {
    settings,
    nowMs,
    isTold: recallTold(state, nowMs),
    fits: (message) => channel.fits(message),
  };
  const news = await Promise.all(
    changes.map(async (change) =>
      change === null ? [] : tellChange(change, await readOpener(ledger, change)),
    ),
  );
  const { message, count } = gather(news, rules);
  if (message === null) return { state, count };
  const sent = await channel.send(message);
  const afterMs = clock.nowMs();
  if (sent.kind === 'sent') {
    // Kept, thousands of outcomes and fills would push out the alarms, which may be raised again.
    const keys = message.news.map(({ key }) => key).filter((key) => !comesOnce(key));
    return { state: afterSending(state, keys, afterMs), count };
  }
  const waitMs = sent.kind === 'wait' ? sent.forMs : null;
  return { state: afterFailure(state, sent.reason, waitMs, afterMs), count: 0 };
}

/** Read for its price alone: where it cannot be read, the fill is told at once, without a profit. */
async function readOpener(ledger: Pick<Ledger, 'read'>, change: LedgerChange): Promise<Entry | null> {
  const key = change.kind === 'execution' ? openerKeyOf(change) : null;
  if (key === null) return null;
  try {
    return await ledger.read(key);
  } catch (error) {
    if (error instanceof RelayError && error.code === 'store_unavailable') return null;
    throw error;
  }
}

/** A channel of which nobody has said how it is reached fails at each request, with the reason. */
export async function openChannelSafely(
  { openChannel }: { openChannel(name: ChannelName): Promise<OpenChannel> },
  name: ChannelName,
): Promise<OpenChannel> {
  try {
    return await openChannel(name);
  } catch (error) {
    if (!(error instanceof RelayError) || error.code !== 'secrets_missing') throw error;
    const reason = error.message;
    return { fits: () => true, send: async () => ({ kind: 'failed', reason }) };
  }
}

import type { Log } from '../base/log.ts';
import type { LedgerChange } from '../ledger/ledger-change.ts';
import { afterSeeing, type ChannelState, type ChannelStates, firstState } from './channel-state.ts';
import type { ChannelName } from './notice-settings.ts';
import { type ChannelServices, type OpenChannel, openChannelSafely, tellOnce } from './tell-channel.ts';

export interface BatchServices extends ChannelServices {
  readonly log: Log;
  readonly states: ChannelStates;
  /** @throws RelayError `secrets_missing` when nobody has said how the channel is reached */
  openChannel(name: ChannelName): Promise<OpenChannel>;
}

/** A change, and when it was made. */
export interface BatchChange {
  readonly change: LedgerChange;
  readonly madeAtMs: number;
}

/** A channel that fails for longer than this is passed over while another one tells. */
const patienceMs = 300_000;

/**
 * Tells changes that are delivered once and again until they are told. Each channel remembers which of them it has told, so
 * one that fails has nothing told twice on the others.
 *
 * A channel that has failed for five minutes does not hold up the others: what it misses is logged, and the others have told it.
 *
 * @param untilMs no request begins later than this, and no wait ends later
 * @throws Error when a channel has not told everything: the changes must be delivered again
 */
export async function tellBatch(
  services: BatchServices,
  changes: readonly BatchChange[],
  untilMs: number,
): Promise<void> {
  const { settings, clock, log } = services;
  const left = await Promise.all(
    settings.channels.map(async (channel) => ({
      channel,
      missed: await tellAll(services, channel, changes, untilMs),
    })),
  );
  const failed = left.filter(({ missed }) => missed.length > 0);
  if (failed.length === 0) return;
  const oldestMs = Math.min(...failed.flatMap(({ missed }) => missed.map(({ madeAtMs }) => madeAtMs)));
  const isTold = failed.length < left.length;
  if (!isTold || clock.nowMs() - oldestMs < patienceMs)
    throw new Error(`notices were not told by ${failed.map(({ channel }) => channel).join(', ')}`);
  for (const { channel, missed } of failed)
    log.error('a channel is passed over: others have told these notices', {
      channel,
      changes: missed.length,
    });
}

/** @returns the changes that the channel has not told */
async function tellAll(
  services: BatchServices,
  name: ChannelName,
  changes: readonly BatchChange[],
  untilMs: number,
): Promise<readonly BatchChange[]> {
  const { clock, states, log } = services;
  let state = (await states.read(name)) ?? firstState;
  let left = changes.filter(({ change }) => !state.seen.includes(change.id));
  while (left.length > 0) {
    if (Math.max(state.retryAtMs, clock.nowMs()) > untilMs) return left;
    if (state.retryAtMs > clock.nowMs()) await clock.sleep(state.retryAtMs - clock.nowMs());
    const channel = await openChannelSafely(services, name);
    const batch = left.map(({ change }) => change);
    const { state: told, count } = await tellOnce(channel, state, batch, services);
    if (told.failure !== null && told.failure !== state.failure)
      log.warn('notices could not be sent; they are sent again', { channel: name, reason: told.failure });
    const next = rememberTold(state, told, batch.slice(0, count));
    if (next !== state) await states.write(name, next);
    [state, left] = [next, left.slice(count)];
  }
  return left;
}

/** What was passed over needs no memory: it is passed over again. */
function rememberTold(
  before: ChannelState,
  told: ChannelState,
  changes: readonly LedgerChange[],
): ChannelState {
  if (told === before) return before;
  return afterSeeing(
    told,
    changes.map(({ id }) => id),
  );
}

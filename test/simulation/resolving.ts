import { RelayError } from '../../lib/base/errors.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { resolveSignal } from '../../lib/relay/settle/resolve-signal.ts';
import { rollChance } from './dice.ts';
import { keyText } from './history.ts';
import { type Invocation, Process, runInvocation } from './process.ts';
import { composeHandlers } from './relay-handlers.ts';
import { createLocalSecrets } from './secrets.ts';
import { exchangeTimeoutMs, type SimulatedWorld } from './simulated-world.ts';

/**
 * Resolves unknown outcomes as the operator's tool does, in a process of its own: by a lookup or by
 * cancelling.
 */
export async function resolveUnknown(world: SimulatedWorld): Promise<void> {
  const { entries } = await world.ledger.list({ status: 'unknown', limit: 10, oldestFirst: true });
  for (const entry of entries) void resolveOne(world, entry);
}

async function resolveOne(world: SimulatedWorld, entry: Entry): Promise<void> {
  const { stage } = world;
  const process = new Process(stage, 'operator', 0);
  const timeouts = {
    exchangeMs: exchangeTimeoutMs,
    marketsMs: exchangeTimeoutMs,
    lookupsMs: exchangeTimeoutMs,
  };
  const secrets = createLocalSecrets(process, world.secrets);
  const services = composeHandlers({ world, process, queue: null, secrets, timeouts }).resolve();
  const kind = rollChance(stage.random, 0.5) ? 'look' : 'cancel';
  process.note(`resolves ${keyText(entry)} by ${kind}`, `operator: resolve by ${kind}`);
  const startedAtMs = stage.loop.nowMs;
  const invocation: Invocation = { handlerName: 'resolve', name: entry.signalId, key: null, startedAtMs };
  try {
    await runInvocation(invocation, () =>
      resolveSignal(services, entry, { kind }, 'operator', { timeoutMs: exchangeTimeoutMs }),
    );
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    process.note(`could not: ${error.code}`);
  }
}

import { dirname } from 'node:path';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { locateDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { openWorld, type World } from '../support/world.ts';

/** A running relay and paper exchange, and the folder where the tool finds them. */
export interface RunningRelay {
  readonly world: World;
  readonly relayUrl: string;
  /** How the output of a change names the relay, as JSON and as text. */
  readonly target: { readonly kind: 'local'; readonly data: string };
  readonly targetLine: string;
  /** The arguments with the folder added. */
  here(...args: string[]): readonly string[];
  /** Lets the tool find the relay and the exchange elsewhere. */
  pointTo(urls: { readonly relayUrl: string; readonly exchangeUrl: string }): void;
}

/** @param settings of the relay; its commands read those of the project */
export async function startRelay(dialect: Dialect, settings?: Settings): Promise<RunningRelay> {
  const world = await openWorld({ dialect, ...(settings === undefined ? {} : { settings }) });
  const path = dirname(world.secretsPath);
  const relayUrl = new URL(world.webhookUrl).origin;
  const pointTo: RunningRelay['pointTo'] = (urls) => writeRun(locateDataFolder(path), { ...urls, dialect });
  pointTo({ relayUrl, exchangeUrl: world.paper.url });
  const target = { kind: 'local', data: path } as const;
  return {
    world,
    relayUrl,
    target,
    targetLine: `paper relay in ${path}\n`,
    here: (...args) => [...args, '--data', path],
    pointTo,
  };
}

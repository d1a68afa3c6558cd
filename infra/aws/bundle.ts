import { join } from 'node:path';
import type { HostConfig } from '../../lib/host/config.ts';
import { isOnPaper } from '../../lib/host/paper-stage.ts';
import { shipConfig } from '../../lib/host/shipped-config.ts';
import { buildFunctions } from './build-functions.ts';
import { type Bundles, functionsOf } from './function-names.ts';

/**
 * Bundles each function into one self-contained file that includes the configuration.
 *
 * @param options.config the configuration to include, of a paper stage from `onPaper`; as data: a function neither loads
 * `relay.config.ts` nor checks it
 * @throws BuildFailure from esbuild, after esbuild printed the errors
 */
export async function bundleFunctions(options: {
  readonly outputFolder: string;
  readonly config: HostConfig;
}): Promise<Bundles> {
  const { outputFolder, config } = options;
  const names = functionsOf(isOnPaper(config));
  await buildFunctions({ outputFolder, names, configText: shipConfig(config) });
  return Object.fromEntries(names.map((name) => [name, join(outputFolder, name)])) as Bundles;
}

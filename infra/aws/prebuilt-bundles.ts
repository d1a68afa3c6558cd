import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostConfig } from '../../lib/host/config.ts';
import { isOnPaper } from '../../lib/host/paper-stage.ts';
import { shipConfig } from '../../lib/host/shipped-config.ts';
import { type Bundles, functionsOf } from './function-names.ts';

/** Stands in the prebuilt functions where the configuration belongs. */
export const configMark = '@the configuration of the relay@';

/**
 * Writes each function, as the package holds it, with the configuration in it. Nothing is compiled.
 *
 * @param options.config from `parseConfig`; of a paper stage, from `onPaper`
 * @throws Error when the package is not whole
 */
export async function placeFunctions(options: {
  readonly outputFolder: string;
  readonly config: HostConfig;
}): Promise<Bundles> {
  const { outputFolder, config } = options;
  const text = JSON.stringify(shipConfig(config));
  const folders = functionsOf(isOnPaper(config)).map((name) => [name, join(outputFolder, name)] as const);
  for (const [name, folder] of folders) {
    const parts = readFileSync(join(import.meta.dirname, 'functions', name, 'index.js'), 'utf8').split(
      JSON.stringify(configMark),
    );
    if (parts.length === 1)
      throw new Error(`the function ${name} of the package has no place for a configuration`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.js'), parts.join(text));
  }
  return Object.fromEntries(folders) as Bundles;
}

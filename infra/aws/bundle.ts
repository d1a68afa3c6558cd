import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { HostConfig } from '../../lib/host/config.ts';
import { isOnPaper } from '../../lib/host/paper-stage.ts';
import { shipConfig } from '../../lib/host/shipped-config.ts';
import { leaveOut } from './left-out.ts';

const projectRoot = join(import.meta.dirname, '..', '..');

/** Every Lambda function of a relay: `functions/{name}.ts`. */
export const functionNames = [
  'receive-signal',
  'execute-signal',
  'reconcile-signals',
  'snapshot-balances',
  'snapshot-fees',
  'import-interest',
  'send-notices',
] as const;
export type FunctionName = (typeof functionNames)[number];

/** The function that only a paper stage has. */
export const paperFunctionName = 'paper-exchange';

/**
 * Function → the folder that holds its bundle, `index.js`, and nothing else. With a paper exchange, the other bundles know
 * no other one.
 */
export type Bundles = Readonly<
  Record<FunctionName, string> & Partial<Record<typeof paperFunctionName, string>>
>;

/**
 * Bundles each function into one self-contained file that includes the configuration.
 *
 * @param options.config the configuration to include, of a paper stage from `onPaper`; as data: a function neither loads `relay.config.ts` nor checks it
 * @throws BuildFailure from esbuild, after esbuild printed the errors
 */
export async function bundleFunctions(options: {
  readonly outputFolder: string;
  readonly config: HostConfig;
}): Promise<Bundles> {
  const names = [...functionNames, ...(isOnPaper(options.config) ? [paperFunctionName] : [])];
  const folders = names.map((name) => [name, join(options.outputFolder, name)] as const);
  await build({
    absWorkingDir: projectRoot,
    entryPoints: folders.map(([name]) => ({ in: `functions/${name}.ts`, out: join(name, 'index') })),
    outdir: options.outputFolder,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    // `require` loads built-in modules in a tenth of the time.
    format: 'cjs',
    // Tree shaking works on ES modules: they come out at two thirds of the size of the CommonJS files.
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [includeConfiguration(options.config), leaveOut],
  });
  return Object.fromEntries(folders) as Bundles;
}

function includeConfiguration(config: HostConfig): Plugin {
  const contents = `export const checkedConfig = ${JSON.stringify(shipConfig(config))};`;
  return {
    name: 'configuration',
    setup: ({ onLoad }) => onLoad({ filter: /[\\/]functions[\\/]checked-config\.ts$/ }, () => ({ contents })),
  };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const projectRoot = join(import.meta.dirname, '..', '..');

/** Every Lambda function: `functions/{name}.ts`. */
export const functionNames = [
  'receive-signal',
  'execute-signal',
  'reconcile-signals',
  'snapshot-balances',
  'snapshot-fees',
  'import-interest',
] as const;
export type FunctionName = (typeof functionNames)[number];

/** Function → the folder that holds its bundle, `index.js`, and nothing else. */
export type Bundles = Readonly<Record<FunctionName, string>>;

/**
 * Makes one self-contained file of each function, the configuration and the AWS SDK included.
 *
 * @param options.configPath absolute path of the configuration to put in
 * @throws BuildFailure of esbuild, after it printed what is wrong
 */
export async function bundleFunctions(options: {
  readonly outputFolder: string;
  readonly configPath: string;
}): Promise<Bundles> {
  const folders = functionNames.map((name) => [name, join(options.outputFolder, name)] as const);
  await build({
    absWorkingDir: projectRoot,
    entryPoints: folders.map(([name]) => ({ in: `functions/${name}.ts`, out: join(name, 'index') })),
    outdir: options.outputFolder,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    // Built-in modules load in a tenth of the time through require.
    format: 'cjs',
    // The packages' ES modules shake to two thirds of what their CommonJS comes to.
    mainFields: ['module', 'main'],
    // Loaded only by operations that stream events, of which the relay calls none.
    external: ['@smithy/core/event-streams'],
    legalComments: 'none',
    logLevel: 'warning',
    alias: { '@aws-sdk/credential-provider-node': './lib/host/lambda-credentials.ts' },
    plugins: [putInConfiguration(options.configPath), trimPackageFiles, leaveOutJsonSchemas],
  });
  return Object.fromEntries(folders) as Bundles;
}

function putInConfiguration(path: string): Plugin {
  return {
    name: 'configuration',
    setup: ({ onResolve }) => onResolve({ filter: /^\.\.\/relay\.config\.ts$/ }, () => ({ path })),
  };
}

/** An AWS client reads its version from its whole package.json. */
const trimPackageFiles: Plugin = {
  name: 'package-files',
  setup: ({ onLoad }) =>
    onLoad({ filter: /@aws-sdk[\\/]client-[^\\/]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    }),
};

/** Every zod schema can describe itself as a JSON schema; no function asks it to. */
const leaveOutJsonSchemas: Plugin = {
  name: 'json-schemas',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod[\\/]v4[\\/]core[\\/]to-json-schema\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const names = Array.from(source.matchAll(/^export (?:const|function) (\w+)/gm), ([, name]) => name);
      const leftOut =
        "const leftOut = () => { throw new Error('JSON schemas are not part of the bundle'); };";
      return { contents: `${leftOut}\nexport { ${names.map((name) => `leftOut as ${name}`).join(', ')} };` };
    }),
};

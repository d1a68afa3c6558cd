import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** What the bundles hold in place of modules of packages that no function needs. */
interface LeftOut {
  /** Matches the paths of the modules. */
  readonly modules: RegExp;
  /** The text in their place. Absent: every export does nothing. */
  readonly contents?: string;
}

const leftOut: readonly LeftOut[] = [
  // Every zod schema refers to the code that converts it to JSON Schema: 18 KB that no function calls.
  { modules: /zod[\\/]v4[\\/]core[\\/](?:json-schema-processors|to-json-schema)\.js$/ },
  // The functions hand the Secrets Manager client a request handler, so the one of its own is never made.
  {
    modules: /@smithy[\\/]node-http-handler[\\/]dist-es[\\/]index\.js$/,
    contents:
      'export const NodeHttpHandler = { create: (handler) => handler }; export const streamCollector = null;',
  },
  // The functions say at which address Secrets Manager is: these find it by rules, and hold a table of all regions.
  {
    modules: /@aws-sdk[\\/]client-secrets-manager[\\/]dist-es[\\/]endpoint[\\/]endpointResolver\.js$/,
    contents:
      'export const defaultEndpointResolver = ({ Endpoint }) => ({ url: new URL(Endpoint), properties: {}, headers: {} });',
  },
  {
    modules: /@aws-sdk[\\/]core[\\/].*[\\/]util-endpoints[\\/]aws\.js$/,
    contents: 'export const awsEndpointFunctions = {};',
  },
  {
    modules: /@aws-sdk[\\/]core[\\/].*[\\/]util-endpoints[\\/]lib[\\/]aws[\\/]partition\.js$/,
    contents: `
      export const getUserAgentPrefix = () => '';
      export const partition = null, setPartitionInfo = null, useDefaultPartitionInfo = null;`,
  },
  // A function has no files of settings: the client would look for them at each start, and load two modules of Node for it.
  {
    modules: /@smithy[\\/]core[\\/].*[\\/]shared-ini-file-loader[\\/]loadSharedConfigFiles\.js$/,
    contents:
      'export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} }); export const CONFIG_PREFIX_SEPARATOR = ".";',
  },
  // SHA-256 in JavaScript, for a Node without its module crypto.
  throwing(/@smithy[\\/]core[\\/].*[\\/]Sha256Js\.js$/, 'Sha256Js'),
  // For the retry mode `adaptive`, which no function sets.
  throwing(/@smithy[\\/]core[\\/].*[\\/]DefaultRateLimiter\.js$/, 'DefaultRateLimiter'),
  // For signatures of event streams; the signer makes one in any case.
  {
    modules: /@smithy[\\/]signature-v4[\\/]dist-es[\\/]HeaderFormatter\.js$/,
    contents: 'export class HeaderFormatter {}',
  },
  // For a machine on EC2. Lambda names the region in the environment.
  throwing(/@smithy[\\/]core[\\/].*[\\/]getInstanceMetadataRegion\.js$/, 'getInstanceMetadataRegion'),
];

/** In place of a module with one export: a call of it fails, and says why. */
function throwing(modules: RegExp, name: string): LeftOut {
  const message = `${name} is left out of the bundle by infra/aws/left-out.ts`;
  return { modules, contents: `export function ${name}() { throw new Error(${JSON.stringify(message)}); }` };
}

/** Leaves out of a bundle what is above; a tenth of the start of a function. */
export const leaveOut: Plugin = {
  name: 'left-out',
  setup({ onLoad }) {
    for (const { modules, contents } of leftOut)
      onLoad({ filter: modules }, async ({ path }) => ({ contents: contents ?? (await emptyExports(path)) }));
  },
};

async function emptyExports(path: string): Promise<string> {
  const exported = (await readFile(path, 'utf8')).matchAll(/^export (?:const|function) (\w+)/gm);
  return [...exported].map(([, name]) => `export const ${name} = () => {};`).join('\n');
}

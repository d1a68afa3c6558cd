import type { Plugin } from 'esbuild';

/** What the bundles hold in place of modules of packages that no function needs. */
interface LeftOut {
  /** Matches the paths of the modules. */
  readonly modules: RegExp;
  /** The text in their place. */
  readonly contents: string;
}

const leftOut: readonly LeftOut[] = [
  // SHA-256 in JavaScript, for a Node without its module crypto.
  throwing(/@smithy[\\/]core[\\/].*[\\/]Sha256Js\.js$/, 'Sha256Js'),
  // For signatures of event streams; the signer makes one in any case.
  {
    modules: /@smithy[\\/]signature-v4[\\/]dist-es[\\/]HeaderFormatter\.js$/,
    contents: 'export class HeaderFormatter {}',
  },
];

/** In place of a module with one export: a call of it fails, and says why. */
function throwing(modules: RegExp, name: string): LeftOut {
  const message = `${name} is left out of the bundle by infra/aws/left-out.ts`;
  return { modules, contents: `export function ${name}() { throw new Error(${JSON.stringify(message)}); }` };
}

/** Leaves out of a bundle what is above: 6 KB of each function. */
export const leaveOut: Plugin = {
  name: 'left-out',
  setup({ onLoad }) {
    for (const { modules, contents } of leftOut) onLoad({ filter: modules }, () => ({ contents }));
  },
};

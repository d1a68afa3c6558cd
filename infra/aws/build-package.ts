import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { buildFunctions } from './build-functions.ts';
import { functionsOf } from './function-names.ts';
import { configMark } from './prebuilt-bundles.ts';

const projectRoot = join(import.meta.dirname, '..', '..');
const folder = resolve(process.argv[2] ?? join(projectRoot, 'dist', 'construct'));
const entry = 'infra/aws/package-entry.ts';

/** Taken from the project, at its versions. Its types name them, so they are not part of the bundle. */
const dependencies = ['@types/big.js', 'big.js', 'zod'] as const;
const peers = ['aws-cdk-lib', 'constructs'] as const;

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await buildEntry();
declareTypes();
await buildFunctions({
  outputFolder: join(folder, 'functions'),
  names: functionsOf(true),
  configText: configMark,
});
writeManifest();
copyFileSync(join(projectRoot, 'LICENSE'), join(folder, 'LICENSE'));
copyFileSync(join(projectRoot, 'docs', 'construct.md'), join(folder, 'README.md'));
process.stdout.write(`${folder}\n`);

/** Node strips no types inside `node_modules`, so the package is JavaScript. */
async function buildEntry(): Promise<void> {
  await build({
    absWorkingDir: projectRoot,
    entryPoints: [{ in: entry, out: 'index' }],
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node20.11',
    format: 'esm',
    external: [...peers, ...peers.map((name) => `${name}/*`), 'big.js', 'zod'],
    legalComments: 'none',
    logLevel: 'warning',
  });
}

function declareTypes(): void {
  const types = join(folder, 'types');
  const settings = JSON.parse(readFileSync(join(projectRoot, 'tsconfig.json'), 'utf8'));
  const project = join(folder, 'tsconfig.json');
  const compilerOptions = {
    ...settings.compilerOptions,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: types,
    rootDir: projectRoot,
    typeRoots: [join(projectRoot, 'node_modules', '@types')],
  };
  writeFileSync(project, JSON.stringify({ compilerOptions, files: [join(projectRoot, entry)] }));
  const compiler = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', project], { stdio: 'inherit' });
  rmSync(project);
  if (status !== 0) throw new Error(`the types could not be declared: tsc ended with ${status}`);
  for (const path of listFiles(types)) {
    // A declaration stands beside no source: its imports name the files that it is found by.
    const text = readFileSync(path, 'utf8').replace(/(from '\.[^']*)\.ts'/g, "$1.js'");
    writeFileSync(path, text);
  }
}

function listFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

function writeManifest(): void {
  const project = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Manifest;
  const known = { ...project.dependencies, ...project.devDependencies };
  const manifest = {
    name: 'trading-relay',
    version: project.version,
    description: 'The construct of a self-hosted trading relay, for the apps of the AWS CDK',
    license: project.license,
    type: 'module',
    exports: { '.': { types: `./types/${entry.replace(/\.ts$/, '.d.ts')}`, default: './index.js' } },
    files: ['index.js', 'functions', 'types'],
    engines: { node: '>=20.11' },
    dependencies: Object.fromEntries(dependencies.map((name) => [name, known[name]])),
    peerDependencies: Object.fromEntries(peers.map((name) => [name, `^${known[name]}`])),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

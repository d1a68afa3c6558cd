import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { functionNames } from '../infra/aws/function-names.ts';
import { orderKindNames } from '../lib/model/order.ts';
import { listProjectFiles, projectRoot, readProjectFile } from './support/project-files.ts';

/** Biome's name of the rule that holds the order of the folders. See DECISIONS 107. */
const rank = 'lint/style/noRestrictedImports';
const cycle = 'lint/suspicious/noImportCycles';
const suffix = 'lint/correctness/useImportExtensions';

/** Files that break a rule of `biome.json`: path, text, the rule. */
const breaches: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['lib/base/higher-rank.ts', "import '../model/b.ts';", rank],
  ['lib/ledger/higher-rank.ts', "import '../queue/b.ts';", rank],
  ['lib/queue/sibling.ts', "import '../exchange/b.ts';", rank],
  ['lib/reports/sibling.ts', "import '../queue/b.ts';", rank],
  ['lib/translate/sibling.ts', "import '../limits/b.ts';", rank],
  ['lib/watch/higher-rank.ts', "import '../relay/b.ts';", rank],
  ['lib/notices/sibling.ts', "import '../relay/b.ts';", rank],
  ['lib/rehearsal/higher-rank.ts', "import '../relay/b.ts';", rank],
  ['lib/relay/sibling.ts', "import '../paper/b.ts';", rank],
  ['lib/relay/cancel/sibling.ts', "import '../../paper/engine/b.ts';", rank],
  ['lib/protection/higher-rank.ts', "import '../watch/b.ts';", rank],
  ['lib/account/higher-rank.ts', "import '../watch/b.ts';", rank],
  ['lib/paper/engine/higher-rank.ts', "import '../requests/b.ts';", rank],
  ['lib/paper/requests/higher-rank.ts', "import '../lists/b.ts';", rank],
  ['lib/paper/lists/higher-rank.ts', "import '../server/b.ts';", rank],
  ['lib/paper/faults/sibling.ts', "import '../lists/b.ts';", rank],
  ['lib/paper/server/knows-relay.ts', "import '../../ledger/b.ts';", rank],
  ['lib/exchange/endpoints/sibling.ts', "import '../../ledger/b.ts';", rank],
  ['lib/limits/reads-store.ts', "import '../ledger/b.ts';", rank],
  ['lib/signals/type-alone.ts', "export type { B } from '../limits/b.ts';", rank],
  ['lib/model/dynamic.ts', "await import('../exchange/b.ts');", rank],
  ['lib/host/re-export.ts', "export * from '../../functions/b.ts';", rank],
  ['lib/host/reads-configuration.ts', "import '../../relay.config.ts';", rank],
  ['lib/base/loads-test.ts', "import '../../test/support/b.ts';", rank],
  ['lib/helpers/without-rank.ts', "import '../base/b.ts';", rank],
  ['lib/limits/loads-file-without-rank.ts', "import '../helpers/b.ts';", rank],
  ['lib/relay/loads-file-beside-folders.ts', "import '../b.ts';", rank],
  ['functions/knows-runner.ts', "import '../infra/local/b.ts';", rank],
  ['functions/loads-configuration.ts', "import '../relay.config.ts';", rank],
  ['cli/knows-machinery.ts', "import '../infra/local/b.ts';", rank],
  ['infra/local/knows-tool.ts', "import '../../cli/b.ts';", rank],
  ['dashboard/knows-relay.ts', "import '../lib/relay/b.ts';", rank],
  ['dashboard/knows-tool.tsx', "import '../cli/b.ts';", rank],
  ['dashboard/knows-machine.ts', "import 'node:fs';", rank],
  ['dashboard/views/knows-ledger.tsx', "import '../../lib/ledger/b.ts';", rank],
  ['infra/aws/loads-runtime.ts', "import '../../lib/base/b.ts';", rank],
  ['infra/aws/loads-beside-configuration.ts', "import '../../lib/host/b.ts';", rank],
  ['infra/aws/loads-function.ts', "import '../../functions/b.ts';", rank],
  [
    'relay.config.example.ts',
    "import { parseConfig } from './lib/host/config.ts';\nexport default parseConfig;",
    rank,
  ],
  ['lib/base/cycle.ts', "import type { A } from './cycle-back.ts';\nexport type B = A;", cycle],
  ['lib/base/cycle-back.ts', "import type { B } from './cycle.ts';\nexport type A = B;", cycle],
  ['cli/no-suffix.ts', "import './sound';", suffix],
  ['cli/wrong-suffix.ts', "import './sound.js';", suffix],
  ['cli/any.ts', 'export const a: any[] = [];', 'lint/suspicious/noExplicitAny'],
  ['cli/floating.ts', 'async function a(): Promise<void> {}\na();', 'lint/nursery/noFloatingPromises'],
  [
    'cli/misused.ts',
    'async function a(): Promise<boolean> {\n  return true;\n}\nif (a()) throw new Error();',
    'lint/nursery/noMisusedPromises',
  ],
  [
    'lib/relay/reads-evidence.ts',
    "import { fieldsOf } from '../base/json.ts';\nexport const a = ({ evidence }: B) => fieldsOf(evidence);",
    'plugin',
  ],
  [
    'cli/show/casts-evidence.ts',
    'export const a = (b: B) => (Object(b.steps[0]?.evidence) as { c?: unknown }).c;',
    'plugin',
  ],
  ['lib/watch/names-evidence.ts', "export const a = (b: B) => b.evidence['c'] === 1;", 'plugin'],
  ['infra/local/points-at-evidence.ts', 'export const a = ({ evidence }: B) => evidence?.c === 1;', 'plugin'],
  ['lib/account/reads-facts.ts', "export const a = (b: B) => stepFacts(b, 'placed');", 'plugin'],
  ['lib/reports/reads-report.ts', 'export const a = (facts: B) => finalReport(facts);', 'plugin'],
  ['lib/watch/reads-role.ts', "export const a = (b: B) => orderOf(b, 'order');", 'plugin'],
  ['cli/reads-execution.ts', 'export const a = (entry: B) => entry.execution?.orders;', 'plugin'],
  ['infra/local/reads-orders.ts', 'export const a = ({ execution }: B) => execution.orders;', 'plugin'],
  [
    'lib/relay/reads-steps.ts',
    'export const a = ({ steps }: B) => steps.some(({ facts }: C) => facts?.ended !== undefined);',
    'plugin',
  ],
  ['cli/too-long.ts', 'export {};\n'.repeat(401), 'lint/style/noExcessiveLinesPerFile'],
];

const soundFiles: readonly (readonly [path: string, text: string])[] = [
  ['cli/sound.ts', 'export {};\n'.repeat(400)],
  [
    'lib/exchange/endpoints/sound.ts',
    "import '../../base/b.ts';\nimport '../c.ts';\nimport 'zod';\nimport './d.ts';",
  ],
  ['lib/relay/follow/sound.ts', 'export const a = ({ execution }: B) => execution.orders;'],
  [
    'lib/relay/position/sound.ts',
    'export const a = ({ evidence }: B) => ({ ...Object(evidence ?? {}), c: 1 });',
  ],
  ['lib/queue/sound.ts', "import '../ledger/b.ts';\nimport '../model/c.ts';\nimport './d.ts';"],
  ['lib/paper/server/sound.ts', "import '../../exchange/b.ts';\nimport '../lists/c.ts';\nimport './d.ts';"],
  [
    'functions/sound.ts',
    "import '../lib/host/b.ts';\nimport '../lib/relay/c.ts';\nimport './checked-config.ts';",
  ],
  ['dashboard/sound.ts', "import '../lib/model/outcome.ts';\nimport 'preact';\nimport './b.ts';"],
  ['dashboard/views/sound.tsx', "import '../../lib/model/market-data.ts';\nimport '../b.ts';"],
  ['infra/local/sound.ts', "import '../../functions/b.ts';\nimport '../../lib/paper/c.ts';"],
  ['infra/aws/sound.ts', "import '../../lib/host/config.ts';\nimport 'aws-cdk-lib';\nimport './b.ts';"],
];

/** What Biome finds in a folder: path → rules, each once. */
async function lint(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const biome = join(projectRoot, 'node_modules/@biomejs/biome/bin/biome');
  const options = ['--vcs-enabled=false', '--diagnostic-level=error', '--max-diagnostics=none'];
  const { promise, resolve } = Promise.withResolvers<string>();
  // Its exit code says that it found something, which it must.
  execFile(process.execPath, [biome, 'lint', ...options, '--reporter=json'], { cwd: folder }, (_, stdout) =>
    resolve(stdout),
  );
  const { diagnostics } = JSON.parse(await promise) as {
    readonly diagnostics: readonly {
      readonly category: string;
      readonly location: { readonly path: string };
    }[];
  };
  const byPath = Map.groupBy(diagnostics, ({ location }) => location.path);
  return new Map(
    [...byPath].map(([path, found]) => [path, [...new Set(found.map(({ category }) => category))]]),
  );
}

describe('Biome reports', () => {
  let folder: string;
  let reported: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'relay-lint-'));
    for (const [path, text] of [
      ...['biome.json', 'test/evidence.grit', 'test/order-record.grit'].map(
        (path) => [path, readProjectFile(path)] as const,
      ),
      ...breaches,
      ...soundFiles,
    ] as const) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    reported = await lint(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(breaches)('%s', (path, _, rule) => {
    expect(reported.get(path)).toEqual([rule]);
  });

  test.each(soundFiles)('nothing in %s', (path) => {
    expect(reported.get(path)).toBeUndefined();
  });
});

describe('the project', () => {
  const files = listProjectFiles();
  const sources = files.filter((path) => /^(?:lib|functions|infra|cli|dashboard)\/.*\.tsx?$/.test(path));

  /** Biome 2.5 sees imports only, not `import('…')` in a type. */
  test('names types by imports', () => {
    expect(sources.filter((path) => /[:=<|&(,]\s*(?:typeof )?import\(/.test(readProjectFile(path)))).toEqual(
      [],
    );
  });

  test('puts no paper, SQLite, tool or machinery into a function, nor a package that only those need', async () => {
    const { metafile } = await build({
      absWorkingDir: projectRoot,
      entryPoints: functionNames.map((name) => `functions/${name}.ts`),
      outdir: 'out',
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
    });
    const bundled = Object.keys(metafile.inputs);
    expect(bundled).toEqual(
      expect.arrayContaining(['lib/relay/execute/execute-signal.ts', 'lib/base/errors.ts']),
    );
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
    const packages = imported.filter(({ external }) => external === true).map(({ path }) => path);
    expect([...new Set(packages)].filter((path) => !path.startsWith('node:')).sort()).toEqual([
      '@aws-lambda-powertools/logger',
      '@middy/core',
      '@smithy/core/checksum',
      '@smithy/signature-v4',
      'big.js',
      'jsonc-parser',
      'zod/mini',
      'zod/v4/locales/en.js',
    ]);
    expect(bundled.filter((path) => /^(?:lib\/paper|cli|infra|test)\/|sqlite/.test(path))).toEqual([]);
  });

  test('asks for the kind of an order only where kinds are', () => {
    const question = new RegExp(`(?:\\bcase|[!=]==)\\s*'(?:${orderKindNames.join('|')})'`);
    const asking = sources.filter(
      (path) => !path.startsWith('lib/orders/') && question.test(readProjectFile(path)),
    );
    expect(asking).toEqual([]);
  });

  /** A rehearsal asks for itself: it is tried before a signal is. The tool cancels by hand. */
  test('asks the exchange to cancel in one room', () => {
    const asking = sources.filter(
      (path) =>
        /^lib\/(?!exchange\/|paper\/|rehearsal\/)/.test(path) &&
        /endpoints\/cancel-(?:all|conditional|order)\.ts/.test(readProjectFile(path)),
    );
    expect([...new Set(asking.map((path) => dirname(path)))]).toEqual(['lib/relay/cancel']);
  });

  test('gives no exported name to two things, but where two adapters of one port mirror each other', () => {
    const declaration = /^export (?:async )?(?:function\*?|const|interface|type|class) ([A-Za-z]+)/gm;
    const places = new Map<string, string[]>();
    for (const path of sources.filter((path) => !path.startsWith('functions/')))
      for (const [, name = ''] of new Set(readProjectFile(path).matchAll(declaration)))
        places.set(name, [...new Set([...(places.get(name) ?? []), path])]);
    const mirrored = (path: string) => path.replace(/(?:dynamodb|sqlite)-[a-z-]+\.ts$/, '');
    const shared = [...places].filter(
      ([, [first = '', ...further]]) =>
        further.length > 0 && further.some((path) => mirrored(path) !== mirrored(first)),
    );
    expect(shared).toEqual([]);
  });

  test('tries in `npm run proof` every case of a test that tries some of them in `npm test`', () => {
    const config = readProjectFile('jest.config.mjs');
    const sampled = files.filter(
      (path) => path.endsWith('.test.ts') && /from '.*\/support\/runs\.ts'/.test(readProjectFile(path)),
    );

    const isTried = (path: string) => path.endsWith('.property.test.ts') || config.includes(`'${path}'`);
    expect(sampled.filter((path) => !isTried(path))).toEqual([]);
  });

  test('names no folder of the machine it was written on', () => {
    const machinePath = ['', 'work', ''].join('/');
    expect(files.filter((path) => readProjectFile(path).includes(machinePath))).toEqual([]);
  });

  test('locks its packages without saying which registry they came from', () => {
    expect(readProjectFile('package-lock.json')).not.toContain('"resolved"');
  });
});

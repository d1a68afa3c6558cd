import { describe, expect, test } from '@jest/globals';
import { orderKindNames } from '../lib/model/order.ts';
import {
  buildImportGraph,
  findCycles,
  findReachable,
  type ImportGraph,
  maskTexts,
  type Sources,
} from './support/import-graph.ts';
import { listProjectFiles, readProjectFile } from './support/project-files.ts';

/** Lower ranks know nothing of higher ones; folders of one rank know nothing of each other. */
const ranks: readonly (readonly string[])[] = [
  ['lib/base'],
  ['lib/model'],
  ['lib/exchange', 'lib/ledger', 'lib/queue'],
  ['lib/orders'],
  ['lib/signals', 'lib/risk'],
  ['lib/relay', 'lib/snapshots', 'lib/paper'],
  ['lib/host'],
  ['functions'],
  ['infra', 'cli'],
];
const configPath = 'relay.config.ts';
/** What ships, and what its owner made of it. */
const configPaths = ['relay.config.example.ts', configPath];
/** What the stack reads: the configuration, checked, with its times. */
const stackSources = ['config', 'cron', 'cron-times', 'project-config'].map((name) => `lib/host/${name}.ts`);
const sourceFolders = ['lib', 'functions', 'infra', 'cli'];
const maximumLines = 250;

function folderOf(path: string): string {
  const parts = path.split('/');
  return parts.slice(0, parts[0] === 'lib' ? 2 : 1).join('/');
}

function rankOf(path: string): number {
  return ranks.findIndex((folders) => folders.includes(folderOf(path)));
}

/** What breaks the order of the folders, one line each. */
function findRankBreaches(graph: ImportGraph): readonly string[] {
  return [...graph].flatMap(([path, edges]) => [
    ...(!configPaths.includes(path) && rankOf(path) < 0 ? [`${path} is in no folder of the rank rule`] : []),
    ...edges
      .filter(({ to, isTypeOnly }) => !mayImport(path, to, isTypeOnly))
      .map(({ to }) => `${path} must not import ${to}`),
  ]);
}

function mayImport(from: string, to: string, isTypeOnly: boolean): boolean {
  if (configPaths.includes(from)) return isTypeOnly && folderOf(to) === 'lib/host';
  if (configPaths.includes(to)) return ['functions', 'infra', 'cli'].includes(folderOf(from));
  if (rankOf(to) < 0) return false;
  // The stack names functions by path and runs none of them.
  if (from.startsWith('infra/aws/') && !to.startsWith('infra/aws/'))
    return stackSources.includes(to) || (isTypeOnly && rankOf(to) < rankOf(from));
  return folderOf(from) === folderOf(to) || rankOf(to) < rankOf(from);
}

/** Imports without `.ts` (or `.json`), or of a file that is not there. */
function findBadSpecifiers(graph: ImportGraph): readonly string[] {
  return [...graph].flatMap(([path, edges]) =>
    edges
      .filter(({ to }) => !(to.endsWith('.json') || (to.endsWith('.ts') && graph.has(to))))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  );
}

/** What must not be in a function's bundle but would be. */
function findBundledStrangers(graph: ImportGraph): readonly string[] {
  const roots = [...graph.keys()].filter((path) => path.startsWith('functions/'));
  const isStranger = (path: string) =>
    ['lib/paper', 'cli', 'infra'].includes(folderOf(path)) || path.includes('sqlite');
  return [...findReachable(graph, roots)].filter(isStranger);
}

function findAny(sources: Sources): readonly string[] {
  return [...sources].flatMap(([path, text]) =>
    // `Promise.any(` is a method, `{ any: 1 }` and `any?:` are names.
    /(?<![.\w$#])any(?![\w$])(?!\s*\??\s*:)(?!\s*\()/.test(maskTexts(text).code) ? [path] : [],
  );
}

/** Code that asks which kind an order is of, where the kind's own value should say what follows from it. */
function findKindQuestions(sources: Sources): readonly string[] {
  const question = new RegExp(`(?:\\bcase|[!=]==)\\s*'(?:${orderKindNames.join('|')})'`);
  return [...sources].flatMap(([path, text]) =>
    folderOf(path) !== 'lib/orders' && question.test(text) ? [path] : [],
  );
}

function findLongFiles(sources: Sources): readonly string[] {
  return [...sources].flatMap(([path, text]) => {
    const lineCount = text.replace(/\n$/, '').split('\n').length;
    return lineCount > maximumLines ? [`${path} has ${lineCount} lines`] : [];
  });
}

function sourcesOf(files: Readonly<Record<string, string>>): Sources {
  return new Map(Object.entries(files));
}

describe('the rules find what breaks them:', () => {
  test.each([
    ['a lower rank importing a higher one', 'lib/base/a.ts', "import '../model/b.ts';", 'lib/model/b.ts'],
    ['siblings', 'lib/ledger/a.ts', "import '../queue/b.ts';", 'lib/queue/b.ts'],
    ['siblings of the third rank', 'lib/relay/a.ts', "import '../paper/b.ts';", 'lib/paper/b.ts'],
    ['a type alone', 'lib/signals/a.ts', "import type { B } from '../risk/b.ts';", 'lib/risk/b.ts'],
    ['a type query', 'lib/risk/a.ts', "type B = import('../signals/b.ts').B;", 'lib/signals/b.ts'],
    ['a dynamic import', 'lib/model/a.ts', "await import('../exchange/b.ts');", 'lib/exchange/b.ts'],
    ['a re-export', 'lib/host/a.ts', "export * from '../../functions/b.ts';", 'functions/b.ts'],
    ['the tool and the machinery', 'cli/a.ts', "import '../infra/local/b.ts';", 'infra/local/b.ts'],
    [
      'a function that knows its runner',
      'functions/a.ts',
      "import '../infra/local/b.ts';",
      'infra/local/b.ts',
    ],
    ['a test in the source', 'lib/base/a.ts', "import '../../test/support/b.ts';", 'test/support/b.ts'],
    [
      'runtime code in the stack',
      'infra/aws/a.ts',
      "import { b } from '../../lib/base/b.ts';",
      'lib/base/b.ts',
    ],
    [
      'runtime code beside the configuration',
      'infra/aws/a.ts',
      "import { b } from '../../lib/host/b.ts';",
      'lib/host/b.ts',
    ],
    ['a function loaded by the stack', 'infra/aws/a.ts', "import '../../functions/b.ts';", 'functions/b.ts'],
    ['a value in the configuration', configPath, "import { b } from './lib/host/b.ts';", 'lib/host/b.ts'],
    [
      'a foreign type in the configuration',
      configPath,
      "import type { B } from './lib/base/b.ts';",
      'lib/base/b.ts',
    ],
    [
      'a library that reads the configuration',
      'lib/host/a.ts',
      "import '../../relay.config.ts';",
      configPath,
    ],
  ])('%s', (_, path, text, target) => {
    expect(findRankBreaches(buildImportGraph(sourcesOf({ [path]: text })))).toEqual([
      `${path} must not import ${target}`,
    ]);
  });

  test.each([
    [
      'lib/exchange/endpoints/a.ts',
      "import '../../base/b.ts'; import '../c.ts'; import './d.ts'; import 'zod';",
    ],
    ['lib/paper/a.ts', "import '../exchange/b.ts'; import '../model/c.ts';"],
    ['functions/a.ts', "import '../lib/host/b.ts'; import '../lib/relay/c.ts'; import '../relay.config.ts';"],
    [
      'infra/local/a.ts',
      "import '../../functions/b.ts'; import '../../relay.config.ts'; import '../../lib/paper/c.ts';",
    ],
    [
      'infra/aws/a.ts',
      "import './b.ts'; import type { C } from '../../lib/host/c.ts'; import '../../lib/host/config.ts'; import '../../relay.config.ts'; import 'aws-cdk-lib';",
    ],
    [configPath, "import type { A } from './lib/host/a.ts';"],
  ])('and let pass what keeps them: %s', (path, text) => {
    expect(findRankBreaches(buildImportGraph(sourcesOf({ [path]: text })))).toEqual([]);
  });

  test('a file outside every folder', () => {
    expect(findRankBreaches(buildImportGraph(sourcesOf({ 'lib/a.ts': '', 'lib/helpers/b.ts': '' })))).toEqual(
      ['lib/a.ts is in no folder of the rank rule', 'lib/helpers/b.ts is in no folder of the rank rule'],
    );
  });

  test('a specifier without its suffix, and one that leads nowhere', () => {
    const text =
      "import './b'; import './b.js'; import './gone.ts'; import './b.ts'; import d from './d.json';";
    expect(findBadSpecifiers(buildImportGraph(sourcesOf({ 'cli/a.ts': text, 'cli/b.ts': '' })))).toEqual([
      'cli/a.ts imports ./b',
      'cli/a.ts imports ./b.js',
      'cli/a.ts imports ./gone.ts',
    ]);
  });

  test('strangers in a bundle, however far away', () => {
    const graph = buildImportGraph(
      sourcesOf({
        'functions/a.ts': "import '../lib/host/b.ts';",
        'lib/host/b.ts': "import '../ledger/sqlite-ledger.ts'; import type { C } from '../paper/c.ts';",
        'lib/ledger/sqlite-ledger.ts': "import '../base/sqlite.ts';",
        'lib/base/sqlite.ts': '',
        'lib/paper/c.ts': '',
        'cli/d.ts': '',
      }),
    );
    expect(findBundledStrangers(graph)).toEqual([
      'lib/ledger/sqlite-ledger.ts',
      'lib/paper/c.ts',
      'lib/base/sqlite.ts',
    ]);
  });

  test.each(['let a: any;', 'f<any>()', 'a as any', 'const a: any[] = [];', 'type A = Record<string, any>;'])(
    'any in "%s"',
    (text) => {
      expect(findAny(sourcesOf({ 'cli/a.ts': text }))).toEqual(['cli/a.ts']);
    },
  );

  test.each([
    "const a = 'any'; // any",
    '/** any */ Promise.any([]);',
    'const a = { any: 1 };',
    'let anything: unknown;',
  ])('no any in "%s"', (text) => {
    expect(findAny(sourcesOf({ 'cli/a.ts': text }))).toEqual([]);
  });

  test.each([
    "switch (order.kind) { case 'stop_limit': }",
    "if (signal.orderType === 'limit') a();",
    "a = kind !== 'limit';",
  ])('a question for the kind of an order: %s', (text) => {
    expect(findKindQuestions(sourcesOf({ 'lib/relay/a.ts': text, 'lib/orders/b.ts': text }))).toEqual([
      'lib/relay/a.ts',
    ]);
  });

  test('a file of more than 250 lines', () => {
    const sources = sourcesOf({ 'cli/a.ts': 'x\n'.repeat(250), 'cli/b.ts': 'x\n'.repeat(251) });
    expect(findLongFiles(sources)).toEqual(['cli/b.ts has 251 lines']);
  });
});

describe('the project', () => {
  const files = listProjectFiles();
  const isSource = (path: string) =>
    configPaths.includes(path) ||
    (path.endsWith('.ts') && sourceFolders.some((folder) => path.startsWith(`${folder}/`)));
  const sources: Sources = new Map(files.filter(isSource).map((path) => [path, readProjectFile(path)]));
  const graph = buildImportGraph(sources);

  test('is looked at as a whole', () => {
    expect([...graph.keys()]).toEqual(
      expect.arrayContaining([
        'lib/base/errors.ts',
        'lib/ledger/ledger.ts',
        'lib/exchange/endpoints/stop-limit.ts',
      ]),
    );
    expect(graph.get('lib/ledger/ledger.ts')?.map(({ to }) => to)).toContain('lib/ledger/entry.ts');
  });

  test('imports lower ranks or its own folder only', () => {
    expect(findRankBreaches(graph)).toEqual([]);
  });

  test('has no cycles, of types neither', () => {
    expect(findCycles(graph)).toEqual([]);
  });

  test('writes imports out, with their suffix', () => {
    expect(findBadSpecifiers(graph)).toEqual([]);
  });

  test('puts no paper, SQLite, tool or machinery into a function', () => {
    expect(findBundledStrangers(graph)).toEqual([]);
  });

  test('has no any', () => {
    expect(findAny(sources)).toEqual([]);
  });

  test('asks for the kind of an order only where kinds are', () => {
    expect(findKindQuestions(sources)).toEqual([]);
  });

  test('has no file of more than 250 lines', () => {
    expect(findLongFiles(sources)).toEqual([]);
  });

  test('names no folder of the machine it was written on', () => {
    const machinePath = ['', 'work', ''].join('/');
    expect(files.filter((path) => readProjectFile(path).includes(machinePath))).toEqual([]);
  });

  test('locks its packages without saying which registry they came from', () => {
    expect(readProjectFile('package-lock.json')).not.toContain('"resolved"');
  });
});

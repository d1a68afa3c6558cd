import { describe, expect, test } from '@jest/globals';
import { buildImportGraph, findCycles, findReachable, maskTexts, readImports } from './import-graph.ts';

function specifiersOf(source: string): readonly string[] {
  return readImports(source).map(({ specifier }) => specifier);
}

/** The same file with every import of its own. */
function graphOf(files: Readonly<Record<string, string>>) {
  return buildImportGraph(new Map(Object.entries(files)));
}

describe('readImports', () => {
  test.each([
    ["import './a.ts';", './a.ts'],
    ["import a from './a.ts';", './a.ts'],
    ["import * as a from './a.ts';", './a.ts'],
    ["import a, { b as c } from './a.ts';", './a.ts'],
    ['import { b } from "./a.ts";', './a.ts'],
    ["import {\n  b,\n  c,\n} from './a.ts';", './a.ts'],
    ["import{b}from'./a.ts'", './a.ts'],
    ["import type { B } from './a.ts';", './a.ts'],
    ["import { type B, c } from './a.ts';", './a.ts'],
    ["import /* why */ { b } /* from 'x' */ from /* here */ './a.ts';", './a.ts'],
    ["export * from './a.ts';", './a.ts'],
    ["export * as a from './a.ts';", './a.ts'],
    ["export { b } from './a.ts';", './a.ts'],
    ["export type { B } from './a.ts';", './a.ts'],
    ["import data from './a.json' with { type: 'json' };", './a.json'],
    ["const a = await import('./a.ts');", './a.ts'],
    ["const a = await import(\n  './a.ts',\n);", './a.ts'],
    ["type A = typeof import('./a.ts');", './a.ts'],
    ["type A = import('./a.ts').B;", './a.ts'],
    ["const a = require('./a.ts');", './a.ts'],
    ["const a = 1 / 2; import './a.ts'; const b = 3 / 4;", './a.ts'],
    [`const text = \`\${\`'\${1}\`}\`; import './a.ts';`, './a.ts'],
    ["const quote = /['\"`]/; import './a.ts';", './a.ts'],
    ["const slash = /[/]'/g; import './a.ts';", './a.ts'],
    ["const f = () => { return /'/; }; import './a.ts';", './a.ts'],
    ["const f = (a[0] / 2) / 3; const s = '/'; import './a.ts';", './a.ts'],
    ["const s = 'it\\'s'; import './a.ts';", './a.ts'],
    ["// it's\nimport './a.ts';", './a.ts'],
  ])('finds the import in %j', (source, specifier) => {
    expect(specifiersOf(source)).toEqual([specifier]);
  });

  test.each([
    "// import './a.ts';",
    "/* import './a.ts'; */",
    "/**\n * import { a } from './a.ts'\n */",
    'const text = "import \'./a.ts\'";',
    "const text = `import './a.ts'`;",
    `const text = \`\${1} import './a.ts'\`;`,
    "const pattern = /import '.\\/a.ts'/;",
    "const url = import.meta.url; const from = 'x';",
    "export const from = './a.ts';",
    "export function f() { return './a.ts'; }",
    "const a = { import: './a.ts' };",
    "array.import('./a.ts');",
    "Array.from('./a.ts');",
  ])('finds none in %j', (source) => {
    expect(specifiersOf(source)).toEqual([]);
  });

  test('finds every one of several, in order', () => {
    const source =
      "import a from './a.ts';\nexport { b } from './b.ts';\nexport const c = 1;\nimport './c.ts';\nimport('./d.ts');";
    expect(specifiersOf(source)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts']);
  });

  test('tells what is gone at run time', () => {
    const source = [
      "import type { A } from './a.ts';",
      "import { type B } from './b.ts';",
      "export type { C } from './c.ts';",
      "import type from './d.ts';",
    ].join('\n');
    expect(readImports(source).map(({ isTypeOnly }) => isTypeOnly)).toEqual([true, false, true, false]);
  });

  test.each([
    'await import(path);',
    `await import(\`./\${name}.ts\`);`,
    "await import('./a' + '.ts');",
    'require(path)',
  ])('refuses %j, which could lead anywhere', (source) => {
    expect(() => readImports(source)).toThrow('write the path out');
  });
});

describe('maskTexts', () => {
  test('keeps the code of a template and blanks its text', () => {
    const { code } = maskTexts(`const a = \`any \${b as string} any \${\`any \${c}\`} any\`;`);
    expect(code).toContain('b as string');
    expect(code).toContain('c');
    expect(code).not.toContain('any');
  });

  test('keeps the braces of an object within a template apart from the template', () => {
    const { code } = maskTexts(`\`\${f({ a: { b } })} any\` + after`);
    expect(code).toContain('{ a: { b } }');
    expect(code).toContain('+ after');
    expect(code).not.toContain('any');
  });
});

describe('the graph', () => {
  test('has a row for every file and resolves paths from the importing file', () => {
    const graph = graphOf({
      'lib/base/a.ts': "import { x } from '../model/b.ts'; import z from 'zod';",
      'lib/model/b.ts': '',
    });
    expect([...graph.keys()]).toEqual(['lib/base/a.ts', 'lib/model/b.ts']);
    expect(graph.get('lib/base/a.ts')).toEqual([
      { specifier: '../model/b.ts', to: 'lib/model/b.ts', isTypeOnly: false },
    ]);
  });

  test.each([
    ['of one file', { 'a.ts': "import './a.ts';" }, ['a.ts', 'a.ts']],
    ['of two files', { 'a.ts': "import './b.ts';", 'b.ts': "import './a.ts';" }, ['a.ts', 'b.ts', 'a.ts']],
    [
      'of types alone',
      { 'a.ts': "import type { B } from './b.ts';", 'b.ts': "import type { A } from './a.ts';" },
      ['a.ts', 'b.ts', 'a.ts'],
    ],
    [
      'closed by a dynamic import',
      { 'a.ts': "export * from './b.ts';", 'b.ts': "import './c.ts';", 'c.ts': "await import('./b.ts');" },
      ['b.ts', 'c.ts', 'b.ts'],
    ],
  ])('shows a cycle %s', (_, files, cycle) => {
    expect(findCycles(graphOf(files as unknown as Record<string, string>))).toEqual([cycle]);
  });

  test('shows no cycle where two ways lead to one file', () => {
    const files = { 'a.ts': "import './b.ts'; import './c.ts';", 'b.ts': "import './c.ts';", 'c.ts': '' };
    expect(findCycles(graphOf(files))).toEqual([]);
  });

  test('reaches what is imported by way of others, through cycles too', () => {
    const graph = graphOf({
      'a.ts': "import './b.ts';",
      'b.ts': "await import('./c.ts'); export * from './a.ts';",
      'c.ts': '',
      'd.ts': "import './a.ts';",
    });
    expect([...findReachable(graph, ['a.ts'])]).toEqual(['a.ts', 'b.ts', 'c.ts']);
  });
});

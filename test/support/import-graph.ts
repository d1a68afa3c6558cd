import { posix } from 'node:path';

/** One import of a module by another, type-only and dynamic ones included. */
export interface Import {
  /** As it is written. */
  readonly specifier: string;
  /** `import type` and `export type`: gone at run time. */
  readonly isTypeOnly: boolean;
}

/** An import of a file by a file of the same tree. */
export interface Edge extends Import {
  /** Path from the root of the tree. */
  readonly to: string;
}

/** Path from the root of the tree → text. */
export type Sources = ReadonlyMap<string, string>;

/** Path → the files it imports. Every source has its row; a target need not exist. */
export type ImportGraph = ReadonlyMap<string, readonly Edge[]>;

/** TypeScript without its texts: comments and templates are blank, strings are numbered. */
export interface MaskedCode {
  /** Each string literal is replaced by its number in double quotes. */
  readonly code: string;
  readonly strings: readonly string[];
}

/** After these words a slash begins a regular expression; after any other word it divides. */
const wordsBeforeRegex =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|yield|await)$/;

/** Blanks whatever only looks like code. */
export function maskTexts(source: string): MaskedCode {
  const strings: string[] = [];
  /** Depth of braces at which each open template goes on. */
  const templates: number[] = [];
  let code = '';
  let depth = 0;
  let at = 0;

  function skip(pattern: RegExp): string {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0] ?? source.slice(at);
    at += text.length;
    return text;
  }

  function skipTemplate(): void {
    if (skip(/(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y).endsWith('${')) templates.push(depth);
    code += '` `';
  }

  while (at < source.length) {
    const [next = '', afterNext = ''] = source.slice(at, at + 2);
    if (next === '/' && afterNext === '/') skip(/\/\/[^\n]*/y);
    else if (next === '/' && afterNext === '*') code += skip(/\/\*[\s\S]*?\*\//y).includes('\n') ? '\n' : ' ';
    else if (next === '/' && beginsRegex(code)) {
      skip(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y);
      code += '/ /';
    } else if (next === "'" || next === '"') {
      const literal = skip(next === "'" ? /'(?:[^'\\\n]|\\[\s\S])*'/y : /"(?:[^"\\\n]|\\[\s\S])*"/y);
      code += `"${strings.push(literal.slice(1, -1)) - 1}"`;
    } else if (next === '`') {
      at += 1;
      skipTemplate();
    } else if (next === '}' && templates.at(-1) === depth) {
      templates.pop();
      at += 1;
      skipTemplate();
    } else {
      if (next === '{') depth += 1;
      if (next === '}') depth -= 1;
      code += next;
      at += 1;
    }
  }
  return { code, strings };
}

function beginsRegex(codeBefore: string): boolean {
  const before = codeBefore.slice(-200).trimEnd();
  return before === '' || /[(,=:[!&|?{};+\-*%<>~^]$/.test(before) || wordsBeforeRegex.test(before);
}

const clause = String.raw`(?:(?!\b(?:import|export)\b)[\w$\s{},*])*?`;
const staticImport = new RegExp(
  String.raw`(?<![.\w$#])(?:import|export)\b(?<type>\s+type\b(?!\s*from\b|\s*,))?(?:${clause}\bfrom)?\s*"(?<at>\d+)"`,
  'g',
);
const calledImport = /(?<![.\w$#])(?:import|require)\s*\(\s*(?:"(?<at>\d+)"\s*[,)])?/g;

/**
 * Every import of a module, in the order of static ones first.
 *
 * @throws Error at a dynamic import whose target is not written out: nobody could tell where it leads
 */
export function readImports(source: string): readonly Import[] {
  const { code, strings } = maskTexts(source);
  const imports: Import[] = [];
  for (const { groups = {} } of code.matchAll(staticImport))
    imports.push({
      specifier: strings[Number(groups['at'])] ?? '',
      isTypeOnly: groups['type'] !== undefined,
    });
  for (const { groups = {}, index } of code.matchAll(calledImport)) {
    if (groups['at'] === undefined)
      throw new Error(`cannot tell what "${code.slice(index, index + 40)}" imports: write the path out`);
    imports.push({ specifier: strings[Number(groups['at'])] ?? '', isTypeOnly: false });
  }
  return imports;
}

/** The imports within the tree; packages are left out. */
export function buildImportGraph(sources: Sources): ImportGraph {
  return new Map(
    [...sources].map(([path, text]) => [
      path,
      readImports(text)
        .filter(({ specifier }) => specifier.startsWith('.') || specifier.startsWith('/'))
        .map((found) => ({ ...found, to: posix.join(posix.dirname(path), found.specifier) })),
    ]),
  );
}

/** Everything that is loaded when the roots are, with the roots. */
export function findReachable(graph: ImportGraph, roots: readonly string[]): ReadonlySet<string> {
  const reached = new Set(roots);
  // A set hands out what is added to it while it is walked.
  for (const path of reached) for (const { to } of graph.get(path) ?? []) reached.add(to);
  return reached;
}

/** One path of files per cycle met, each beginning and outcome with the same file. */
export function findCycles(graph: ImportGraph): readonly (readonly string[])[] {
  const cycles: string[][] = [];
  const done = new Set<string>();

  function visit(path: string, trail: readonly string[]): void {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path]);
    if (start >= 0 || done.has(path)) return;
    for (const { to } of graph.get(path) ?? []) visit(to, [...trail, path]);
    done.add(path);
  }

  for (const path of graph.keys()) visit(path, []);
  return cycles;
}

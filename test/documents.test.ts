import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../lib/base/errors.ts';
import { statuses } from '../lib/model/outcome.ts';
import { faultKinds } from '../lib/paper/faults/fault-rows.ts';
import { oddLists } from '../lib/paper/faults/odd-lists.ts';
import { otherNames } from '../lib/signals/fields.ts';
import { runCli } from './cli/run-cli.ts';
import { faultRows, renderFaultRow } from './support/fault-rows.ts';
import { listProjectFiles, projectRoot, readProjectFile } from './support/project-files.ts';

const documents = [
  'README.md',
  'DECISIONS.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...listProjectFiles('docs').filter((path) => path.endsWith('.md')),
];

/** A terminal as it opens. */
const mostColumns = 80;

/** What stands between the two marks of that name. */
function section(path: string, name: string): string {
  const [, text] =
    new RegExp(`<!-- ${name} -->\n([\\s\\S]*?)<!-- /${name} -->`).exec(readProjectFile(path)) ?? [];
  if (text === undefined) throw new Error(`${path} has no section ${name}`);
  return text;
}

/** The targets of its links and pictures that lie in this project. */
function linksOf(path: string): readonly string[] {
  const prose = readProjectFile(path).replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '');
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target).filter(
    (target) => !/^[a-z]+:/.test(target),
  );
}

/**
 * The lines of code of more than 80 columns. A line stays whole where it is what a program prints, between marks of a
 * section or as JSON in one line, and where one word such as an address is too long.
 */
function wideLinesOf(text: string): readonly string[] {
  const written = text.replaceAll(/<!-- ([\w-]+) -->\n[\s\S]*?<!-- \/\1 -->/g, '');
  return Array.from(
    written.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm),
    ([, indent = '', language, code = '']) =>
      code
        .split('\n')
        .map((line) => line.slice(indent.length))
        .filter((line) => line.length > mostColumns && !(language !== 'json' && /^\{".*\}$/.test(line)))
        .filter((line) => line.split(' ').every((word) => word.length <= mostColumns)),
  ).flat();
}

/** The names by which GitHub links to the headings of a document. */
function anchorsOf(path: string): readonly string[] {
  return Array.from(readProjectFile(path).matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documents', () => {
  test.each(documents)('%s links to files and headings that exist', (path) => {
    const broken = linksOf(path).filter((target) => {
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(projectRoot, linked))) return true;
      return anchor !== undefined && !anchorsOf(linked).includes(anchor);
    });

    expect(broken).toEqual([]);
  });

  test('are all found from the README', () => {
    const linked = linksOf('README.md').map((target) => target.split('#')[0]);

    expect(documents.filter((path) => path !== 'README.md' && !linked.includes(path))).toEqual([
      // Found from the proof, and from nowhere else: it is output.
      'docs/builders/fault-matrix.md',
    ]);
    expect(
      documents.filter((path) => linksOf(path).some((target) => target.includes('fault-matrix.md'))),
    ).toEqual(['docs/builders/proof.md']);
  });

  test.each([
    ['README.md', 1100],
    ['DECISIONS.md', 4000],
    ['docs/architecture.md', 1500],
  ])('keep %s within %i words', (path, most) => {
    expect(readProjectFile(path).trim().split(/\s+/).length).toBeLessThanOrEqual(most);
  });

  test.each(documents)('%s has code that can be copied from 80 columns', (path) => {
    expect(wideLinesOf(readProjectFile(path))).toEqual([]);
  });

  test('begin with a message that enters with a stop', () => {
    const [, message = ''] = /```json\n([\s\S]*?)```/.exec(readProjectFile('README.md')) ?? [];

    expect(JSON.parse(message)).toEqual({
      ticker: 'BTCUSDT',
      action: 'buy',
      quantity: '0.001',
      stopLoss: '2%',
      takeProfit: '4%',
      time: '{{timenow}}',
    });
  });

  test('have a record for each citation of a decision, and a citation for each record', () => {
    const records = Array.from(
      readProjectFile('DECISIONS.md').matchAll(/^\*\*(\d+)\. /gm),
      ([, number = '']) => Number(number),
    );
    const cited = new Set(
      ['bin', 'lib', 'infra', 'cli', 'functions', 'test', 'docs', 'CONTRIBUTING.md']
        .flatMap((path) => (path.includes('.') ? [path] : listProjectFiles(path)))
        .filter((path) => /\.(ts|cjs|mjs|md)$/.test(path))
        .flatMap((path) =>
          Array.from(readProjectFile(path).matchAll(/DECISIONS (\d+)/g), ([, number = '']) => Number(number)),
        ),
    );

    expect(new Set(records).size).toBe(records.length);
    expect(records.filter((number) => !cited.has(number))).toEqual([]);
    expect([...cited].filter((number) => !records.includes(number))).toEqual([]);
  });

  test('name commands and options that exist', async () => {
    const commands = documents
      .filter((path) => path !== 'CHANGELOG.md')
      .flatMap((path) =>
        Array.from(readProjectFile(path).matchAll(/npx relay ((?:[\w.:/-]+ ?)+)/g), ([, words = '']) =>
          words.trim().split(' '),
        ),
      );
    const wrong: string[] = [];
    for (const use of new Set(commands.map(describeUse))) if (!(await isHelped(use))) wrong.push(use);

    expect(commands.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  test('name files, and what is declared in them, as they are', () => {
    const text = readProjectFile('docs/architecture.md');
    const paths = Array.from(
      text.matchAll(/`((?:lib|infra|functions|cli)\/[^`*]+)`/g),
      ([, path = '']) => path,
    );
    const declared = Array.from(
      text.matchAll(/`(\w+)`(?: of the `\w+`)? (?:in |\()`([^`]+\.ts)`/g),
      ([, name = '', path = '']) => ({ name, path }),
    );
    const sources = ['lib', 'infra', 'functions'].flatMap(listProjectFiles).map(readProjectFile).join('\n');
    const drawn = new Set(
      Array.from(text.matchAll(/```\n([\s\S]*?)```/g), ([, drawing = '']) => drawing)
        .join('\n')
        .match(/\b[a-z]+[A-Z]\w+/g),
    );

    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
    expect(declared.length).toBeGreaterThan(20);
    expect(declared.filter(({ name, path }) => !declares(readProjectFile(path), name))).toEqual([]);
    expect(drawn.size).toBeGreaterThan(20);
    expect([...drawn].filter((name) => !declares(sources, name))).toEqual([]);
  });

  test('show what the demo prints, but for ports and milliseconds', () => {
    const printed = execFileSync(process.execPath, ['infra/local/demo.ts'], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });

    const shown = section('docs/builders/proof.md', 'demo').replaceAll('```\n', '');
    expect(withoutChance(shown)).toBe(withoutChance(printed));
  });

  test('tell what each fault leads to, as the journeys prove it', () => {
    expect(section('docs/outcomes.md', 'faults')).toContain(faultRows.map(renderFaultRow).join(''));
    // Lists are not asked while a stop-limit is sent, and it has no flag that could be refused.
    const others = ['read_lag', 'show_tpsl', 'maintenance', ...oddLists, 'refuse_ioc'];
    const strikingCreates = faultKinds.filter((kind) => !others.includes(kind));
    expect(new Set(faultRows.map(({ fault }) => fault.fault))).toEqual(new Set(strikingCreates));
  });

  test('have every field of an alert, under all its names', () => {
    const names = Object.entries(otherNames).flatMap(([name, others]) => [name, ...others]);
    const reference = readProjectFile('docs/alert-reference.md');

    expect(names.filter((name) => !reference.includes(`\`${name}\``))).toEqual([]);
  });

  test('have every command', () => {
    const help = execFileSync(process.execPath, ['bin/relay.cjs', '--help'], { encoding: 'utf8' });
    const commands = Array.from(help.matchAll(/^ {2}([a-z]+)(?= )/gm), ([, name = '']) => name);
    const operations = readProjectFile('docs/operations.md');

    expect(commands).toContain('doctor');
    expect(commands.filter((name) => !new RegExp(`\`${name}[\` ]`).test(operations))).toEqual([]);
  });

  test('tell each stage of CI', () => {
    const stages = Array.from(
      readProjectFile('.ci/run').matchAll(
        /^ *(?:computing|beside) (npm run -s [a-z:]+|npx cdk synth|npm test)/gm,
      ),
      ([, command = '']) => command,
    );
    const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: Record<string, string> };
    const [, table = ''] = /## What CI runs\n([\s\S]*?)\n## /.exec(readProjectFile('CONTRIBUTING.md')) ?? [];

    expect(stages).toContain('npm run -s proof');
    expect(
      stages.filter((command) => !table.includes(`\`${command}`) && !table.includes(`&& ${command}`)),
    ).toEqual([]);
    const names = stages.flatMap((command) => /^npm run -s (.+)/.exec(command)?.[1] ?? []);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('name every code of a sender’s mistakes', () => {
    for (const code of ['invalid_json', 'invalid_signal', 'stale'] as const) {
      expect(catalogue[code].httpStatus).toBe(400);
      expect(readProjectFile('docs/alert-reference.md')).toContain(`\`${code}\``);
    }
  });

  test('explain every status of a signal', () => {
    const explained = Array.from(
      readProjectFile('docs/outcomes.md').matchAll(/^\| `(\w+)` \|/gm),
      ([, status = '']) => status,
    );

    expect(explained.toSorted()).toEqual(statuses.toSorted());
  });
});

/** The command with its subcommand, if it has one, and its options: `paper fault --endpoint`. */
function describeUse(words: readonly string[]): string {
  const options = words.filter((word) => /^--[a-z]/.test(word));
  const names = words.slice(0, 2).filter((word) => /^[a-z]+$/.test(word));
  return [...names, ...options].join(' ');
}

async function isHelped(use: string): Promise<boolean> {
  const words = use.split(' ');
  const names = words.filter((word) => !word.startsWith('--'));
  const { stdout: help } = await runCli([...names, '--help']);
  const { stdout: general } = await runCli(['--help']);
  // A command without such a subcommand shows its own help, and takes the word as an argument if it has any.
  const isFound = help.includes(`Usage: relay ${names.join(' ')}`);
  const takesArgument =
    names.length === 2 && /^Usage: relay \w+(?: \[options\])? [<[](?!options|command)/.test(help);
  return (
    (isFound || takesArgument) &&
    words.every((word) => !word.startsWith('--') || `${help}${general}`.includes(word))
  );
}

/** Whether the source text declares a function, class, type, constant or method of that name. */
function declares(source: string, name: string): boolean {
  return new RegExp(
    `(?:function|class|interface|type|const) ${name}\\b|^ +(?:async |readonly )?${name}[(:]`,
    'm',
  ).test(source);
}

/** Free ports and the machine's speed differ from run to run. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:…')
    .replaceAll(/ +\+\d+ ms/g, ' +… ms')
    .trim();
}

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot, readProjectFile } from '../support/project-files.ts';
import { plainEnvironment, runToSuccess } from './run-process.ts';

/** The package as it is made, and the empty folder of another project that installs it. */
const folder = mkdtempSync(join(tmpdir(), 'relay-construct-'));
const packaged = join(folder, 'construct');
const app = join(folder, 'app');
const env = { ...plainEnvironment(), PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
const installed = join(app, 'node_modules', 'trading-relay');

beforeAll(async () => {
  const node = process.execPath;
  await runToSuccess(node, [join(projectRoot, 'infra/aws/build-package.ts'), packaged], { env });
  await runToSuccess('npm', ['pack', packaged, '--pack-destination', folder], { env, cwd: folder });
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"type":"module"}');
  // What the package asks for is in this project; a registry is not needed.
  const own = ['aws-cdk-lib', 'constructs', 'zod', 'big.js', '@types/big.js', '@types/node'];
  const folders = own.map((name) => join(projectRoot, 'node_modules', name));
  await runToSuccess(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball), ...folders],
    {
      env,
      cwd: app,
    },
  );
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function listFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}

/** The app of docs/construct.md. */
const example = /```ts\n([\s\S]*?)```/.exec(readProjectFile('docs/construct.md'))?.[1] ?? '';

async function synthesize(
  name: string,
  text: string,
): Promise<Record<string, { Type: string; Properties: unknown }>> {
  writeFileSync(join(app, `${name}.ts`), text);
  await runToSuccess(process.execPath, [`${name}.ts`], {
    env: { ...env, CDK_OUTDIR: join(app, name) },
    cwd: app,
  });
  const [template = ''] = readdirSync(join(app, name)).filter((file) => file.endsWith('.template.json'));
  return JSON.parse(readFileSync(join(app, name, template), 'utf8')).Resources;
}

/** The configuration in a function of a synthesized app. */
function readShipped(name: string): unknown {
  const text = readFileSync(join(app, name, 'functions', 'execute-signal', 'index.js'), 'utf8');
  const [literal = '""'] = /"\{\\"exchange\\"(?:[^"\\]|\\.)*"/.exec(text) ?? [];
  return JSON.parse(JSON.parse(literal));
}

describe('The packed construct', () => {
  test('makes a whole relay in the app of its document', async () => {
    const resources = await synthesize('live', example);

    const types = Object.groupBy(Object.values(resources), ({ Type }) => Type);
    expect(
      Object.fromEntries(Object.entries(types).map(([type, found]) => [type, found?.length])),
    ).toMatchObject({
      'AWS::ApiGateway::RestApi': 1,
      'AWS::DynamoDB::GlobalTable': 2,
      'AWS::Lambda::Function': 3,
      'AWS::SecretsManager::Secret': 2,
      'AWS::SQS::Queue': 3,
    });
    expect(readShipped('live')).toMatchObject({
      exchange: { address: 'global' },
      settings: { accounts: { main: { mode: 'paper' } } },
    });
  });

  test('makes one on paper', async () => {
    const onPaper = example
      .replace('bundleFunctions, ', 'bundleFunctions, onPaper, ')
      .replace('outputFolder, config }', 'outputFolder, config: onPaper(config) }');
    const resources = await synthesize('paper', onPaper);

    expect(Object.keys(resources).some((id) => id.startsWith('RelayPaperExchangeFunction'))).toBe(true);
    expect(readShipped('paper')).toMatchObject({ exchange: { address: 'paper' } });
  });

  test('has types that a strict app of TypeScript compiles with', async () => {
    writeFileSync(join(app, 'typed.ts'), example);
    writeFileSync(
      join(app, 'wrong.ts'),
      "import { type TradingRelayProps } from 'trading-relay';\nexport const a: TradingRelayProps = { bundles: 3, accounts: [] };\n",
    );
    const compile = (file: string) =>
      runToSuccess(
        process.execPath,
        [
          join(projectRoot, 'node_modules/typescript/bin/tsc'),
          ...['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'],
          ...['--target', 'es2024', '--types', 'node', file],
        ],
        { env, cwd: app },
      );

    await compile('typed.ts');
    await expect(compile('wrong.ts')).rejects.toThrow('TS2322');
  });

  test('holds code, types and its document, and nothing else', () => {
    const files = listFiles(installed);

    expect(
      files.filter((path) => !/^(types\/.*\.d\.ts|functions\/[a-z-]+\/index\.js)$/.test(path)).sort(),
    ).toEqual(['LICENSE', 'README.md', 'index.js', 'package.json']);
    expect(
      files.filter((path) => /test|fixture|secret.*\.json|\.env|relay\.config|\.relay/.test(path)),
    ).toEqual([]);
    for (const path of files) {
      const text = readFileSync(join(installed, path), 'utf8');
      expect([path, text.includes(projectRoot), text.includes(tmpdir())]).toEqual([path, false, false]);
    }
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { provideConfig } from '../../lib/host/project-config.ts';
import { listProjectFiles, readProjectFile } from '../support/project-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-project-'));
  write('relay.config.example.ts', 'export default 1;\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

const read = () => readFileSync(join(folder, 'relay.config.ts'), 'utf8');

describe('the configuration of a project', () => {
  test('is created from the shipped example once, with a notice', () => {
    expect(provideConfig(folder)).toBe(
      'relay.config.ts was created from relay.config.example.ts. Change it as you need; git ignores it.',
    );
    expect(read()).toBe('export default 1;\n');
    expect(provideConfig(folder)).toBeNull();
  });

  test('is never overwritten', () => {
    write('relay.config.ts', 'export default 2;\n');

    expect(provideConfig(folder)).toBeNull();
    expect(read()).toBe('export default 2;\n');
  });

  test.each(['.relay/relay.db', 'cdk.out/manifest.json'])(
    'is not created anew when it is missing but %s exists',
    (trace) => {
      write(trace, '');

      expect(() => provideConfig(folder)).toThrow(
        expect.objectContaining({
          code: 'config_missing',
          message: expect.stringContaining('`git restore --source=ORIG_HEAD relay.config.ts`'),
        }),
      );
      expect(existsSync(join(folder, 'relay.config.ts'))).toBe(false);
    },
  );

  test('cannot be created without the shipped example', () => {
    rmSync(join(folder, 'relay.config.example.ts'));

    expect(() => provideConfig(folder)).toThrow(
      'relay.config.ts cannot be created from relay.config.example.ts',
    );
  });
});

describe('an update from a release that kept relay.config.ts in git', () => {
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
  let origin: string;
  let clone: string;
  beforeEach(() => {
    origin = join(folder, 'origin');
    clone = join(folder, 'clone');
    write('origin/relay.config.ts', 'old defaults\n');
    git(origin, 'init', '-q', '-b', 'main');
    git(origin, 'add', '.');
    git(origin, 'commit', '-qm', 'before');
    git(folder, 'clone', '-q', origin, clone);
    git(origin, 'mv', 'relay.config.ts', 'relay.config.example.ts');
    write('origin/relay.config.example.ts', 'new defaults\n');
    write('origin/.gitignore', 'relay.config.ts\n');
    git(origin, 'add', '.');
    git(origin, 'commit', '-qm', 'after');
  });

  test('removes an unchanged file; the command in the error restores it, untracked', () => {
    write('clone/.relay/relay.db', '');
    git(clone, 'pull', '-q', '--no-rebase');
    expect(existsSync(join(clone, 'relay.config.ts'))).toBe(false);
    expect(() => provideConfig(clone)).toThrow('git restore --source=ORIG_HEAD relay.config.ts');

    git(clone, 'restore', '--source=ORIG_HEAD', 'relay.config.ts');

    expect(readFileSync(join(clone, 'relay.config.ts'), 'utf8')).toBe('old defaults\n');
    expect(git(clone, 'status', '--porcelain', 'relay.config.ts')).toBe('');
  });

  test('stops at a changed file; the documented steps keep it', () => {
    write('clone/relay.config.ts', 'mine\n');
    expect(() => git(clone, 'pull', '-q', '--no-rebase')).toThrow('would be overwritten by merge');
    expect(readFileSync(join(clone, 'relay.config.ts'), 'utf8')).toBe('mine\n');

    const kept = readFileSync(join(clone, 'relay.config.ts'));
    git(clone, 'checkout', '-q', 'relay.config.ts');
    git(clone, 'pull', '-q', '--no-rebase');
    writeFileSync(join(clone, 'relay.config.ts'), kept);

    expect(git(clone, 'status', '--porcelain', 'relay.config.ts')).toBe('');
    expect(provideConfig(clone)).toBeNull();
  });

  test('conflicts with a committed change and leaves the file in place', () => {
    write('clone/relay.config.ts', 'mine\n');
    git(clone, 'commit', '-qam', 'mine');

    expect(() => git(clone, 'pull', '-q', '--no-rebase')).toThrow();

    const files = ['relay.config.ts', 'relay.config.example.ts'].filter((name) =>
      existsSync(join(clone, name)),
    );
    expect(files.map((name) => readFileSync(join(clone, name), 'utf8')).join('')).toContain('mine');
  });
});

test('git tracks the shipped configuration and ignores the owner’s', () => {
  expect(readProjectFile('.gitignore').split('\n')).toContain('relay.config.ts');
  expect(listProjectFiles()).toContain('relay.config.example.ts');
});

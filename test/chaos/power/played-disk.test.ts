import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { projectRoot } from '../../support/project-files.ts';
import { createPlayedDisk, type PlayedDisk } from './played-disk.ts';

// `.ci/run` installs a compiler where there is none; elsewhere, only this file goes without one.
const hasCompiler = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;
const testOnDisk = hasCompiler ? test : test.skip;

let disk: PlayedDisk | null = null;
afterEach(() => disk?.remove());

/** A disk whose cuts drop every change that was not flushed. */
function openForgetfulDisk(): PlayedDisk {
  disk = createPlayedDisk(() => 0.4);
  return disk;
}

/** Runs a script of Node on the disk. `at` is a path on it. */
function run(on: PlayedDisk, script: string, cut: string | null = null): NodeJS.Signals | null {
  const code = `import * as fs from 'node:fs';
    import { createDataFolder } from '${sourceOf('lib/host/data-folder.ts')}';
    import { replaceFile } from '${sourceOf('lib/host/replace-file.ts')}';
    import { openSqlite } from '${sourceOf('lib/base/sqlite.ts')}';
    const at = (name) => ${JSON.stringify(on.path)} + '/' + name;
    const flush = (path) => { const file = fs.openSync(path, 'r'); fs.fsyncSync(file); fs.closeSync(file); };
    ${script}`;
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    env: { ...process.env, ...on.environment(cut) },
  });
  if (status !== 0 && signal === null) throw new Error(stderr.toString());
  return signal;
}

const sourceOf = (path: string): string => pathToFileURL(join(projectRoot, path)).href;

testOnDisk('a power cut takes what was not flushed, and leaves what was', () => {
  const on = openForgetfulDisk();
  run(
    on,
    `fs.writeFileSync(at('flushed'), 'one');
     flush(at('flushed'));
     flush(at(''));
     fs.appendFileSync(at('flushed'), ' and two');
     fs.writeFileSync(at('unflushed'), 'three');`,
  );
  on.takeIn();
  on.cutPower();

  expect(readdirSync(on.path)).toEqual(['flushed']);
  expect(readFileSync(join(on.path, 'flushed'), 'utf8')).toBe('one');
});

testOnDisk('a flushed file whose folder was not flushed loses its name', () => {
  const on = openForgetfulDisk();
  run(on, `fs.writeFileSync(at('nameless'), 'one'); flush(at('nameless'));`);
  on.takeIn();
  on.cutPower();

  expect(readdirSync(on.path)).toEqual([]);
});

testOnDisk('a file that the power cut spared can be written, flushed and lost again', () => {
  const on = openForgetfulDisk();
  run(on, `fs.writeFileSync(at('kept'), 'one'); flush(at('kept')); flush(at(''));`);
  on.takeIn();
  on.cutPower();
  run(
    on,
    `fs.appendFileSync(at('kept'), ' two'); flush(at('kept')); fs.appendFileSync(at('kept'), ' three');`,
  );
  on.takeIn();
  on.cutPower();

  expect(readFileSync(join(on.path, 'kept'), 'utf8')).toBe('one two');
});

testOnDisk('with the power on, the next process reads what was not flushed', () => {
  const on = openForgetfulDisk();
  run(on, `fs.writeFileSync(at('unflushed'), 'one');`);
  on.takeIn();

  expect(readFileSync(join(on.path, 'unflushed'), 'utf8')).toBe('one');
});

testOnDisk('every way in which Node changes files is recorded', () => {
  const on = openForgetfulDisk();
  run(
    on,
    `fs.mkdirSync(at('folder'));
     fs.writeFileSync(at('folder/a'), 'one');
     fs.writeFileSync(at('folder/a'), 'two');
     fs.appendFileSync(at('folder/a'), 'three');
     fs.truncateSync(at('folder/a'), 4);
     fs.copyFileSync(at('folder/a'), at('folder/b'));
     fs.renameSync(at('folder/b'), at('folder/c'));
     const file = fs.openSync(at('folder/c'), 'r+');
     fs.writevSync(file, [Buffer.from('four'), Buffer.from('five')]);
     fs.writeSync(file, 'six', 2);
     fs.ftruncateSync(file, 7);
     fs.closeSync(file);
     await fs.promises.writeFile(at('folder/d'), 'seven');
     fs.rmSync(at('folder/a'));
     fs.unlinkSync(at('folder/d'));`,
  );

  // It throws when the recorded calls do not lead to these files.
  expect(() => on.takeIn()).not.toThrow();
  expect(readdirSync(join(on.path, 'folder'))).toEqual(['c']);
});

testOnDisk('a process ends itself after the call that it was told', () => {
  const on = openForgetfulDisk();
  const signal = run(on, `for (const name of ['a', 'b', 'c']) fs.mkdirSync(at(name));`, 'calls:2');

  expect(signal).toBe('SIGKILL');
  expect(on.takeIn()).toBe(true);
  expect(readdirSync(on.path).sort()).toEqual(['a', 'b']);
});

testOnDisk('an acknowledged write of the database survives a power cut', () => {
  const on = openForgetfulDisk();
  run(
    on,
    `const folder = createDataFolder(at('data'));
     const file = openSqlite(folder.databasePath);
     file.database.exec('CREATE TABLE words (word TEXT)');
     await file.write(() => file.database.exec("INSERT INTO words VALUES ('kept')"));
     process.kill(process.pid, 'SIGKILL');`,
  );
  on.takeIn();
  on.cutPower();
  run(
    on,
    `const { database } = openSqlite(at('data/relay.db'));
     fs.writeFileSync(at('words'), JSON.stringify(database.prepare('SELECT word FROM words').all()));`,
  );

  expect(readFileSync(join(on.path, 'words'), 'utf8')).toBe('[{"word":"kept"}]');
});

testOnDisk('a data folder survives a power cut, with the folders above it', () => {
  const on = openForgetfulDisk();
  run(on, `createDataFolder(at('some/where/data'));`);
  on.takeIn();
  on.cutPower();

  expect(existsSync(join(on.path, 'some/where/data'))).toBe(true);
});

testOnDisk('a data folder that a killed process made survives, once another process uses it', () => {
  const on = openForgetfulDisk();
  run(on, `createDataFolder(at('data'));`, 'calls:1');
  on.takeIn();
  run(on, `createDataFolder(at('data'));`);
  on.takeIn();
  on.cutPower();

  expect(existsSync(join(on.path, 'data'))).toBe(true);
});

testOnDisk('a replaced file survives a power cut', () => {
  const on = openForgetfulDisk();
  run(on, `replaceFile(at('secrets'), 'old'); replaceFile(at('secrets'), 'new');`);
  on.takeIn();
  on.cutPower();

  expect(readdirSync(on.path)).toEqual(['secrets']);
  expect(readFileSync(join(on.path, 'secrets'), 'utf8')).toBe('new');
});

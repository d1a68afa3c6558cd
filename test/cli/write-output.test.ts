import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeOutput } from '../../cli/export/write-output.ts';
import { CommandFailure } from '../../cli/failure.ts';

describe('a file that is written', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-output-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('has every text, however many they are, in their order', async () => {
    const path = join(folder, 'long.txt');
    async function* count(): AsyncGenerator<string> {
      for (let index = 0; index < 50_000; index += 1) yield `${index}\n`;
    }

    await writeOutput(count(), path);

    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(50_000);
    expect(lines.every((line, index) => line === String(index))).toBe(true);
  });

  test('stays unchanged when its source fails', async () => {
    const path = join(folder, 'kept.txt');
    writeFileSync(path, 'old');
    async function* breakOff(): AsyncGenerator<string> {
      yield 'x'.repeat(200_000);
      throw new RangeError('the source broke');
    }

    await expect(writeOutput(breakOff(), path)).rejects.toThrow(new RangeError('the source broke'));

    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder).filter((name) => name.startsWith('kept'))).toEqual(['kept.txt']);
  });

  test('is not blamed for a failure of its source', async () => {
    const failure = new CommandFailure('changed_meanwhile', 'it changed', 'Export it again.');
    async function* breakOff(): AsyncGenerator<string> {
      yield 'x';
      throw failure;
    }

    await expect(writeOutput(breakOff(), join(folder, 'changed.txt'))).rejects.toBe(failure);
  });
});

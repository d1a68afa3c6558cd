import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect, test } from '@jest/globals';
import { projectRoot, readProjectFile } from './support/project-files.ts';

const document = readProjectFile('docs/packaged-node.md');
const { optionalDependencies } = JSON.parse(readProjectFile('package.json')) as {
  optionalDependencies: Record<string, string>;
};
const packages = Object.entries(optionalDependencies);

/** The hash that the document names for the program of a package. */
function documentedHash(name: string): string | undefined {
  return new RegExp(`^\\| \`${name}\` \\| \`([0-9a-f]{64})\` \\|$`, 'm').exec(document)?.[1];
}

test.each(packages)('the document on the packaged Node is about %s %s', (name, version) => {
  expect(documentedHash(name)).toBeDefined();
  expect(document).toContain(`each at ${version}`);
});

const programs = packages
  .map(([name]) => ({ name, path: join(projectRoot, 'node_modules', name, 'bin', 'node') }))
  .filter(({ path }) => existsSync(path));

test('the packaged Node of this machine, if there is one, is the program that was looked at', async () => {
  for (const { name, path } of programs) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    expect([name, hash.digest('hex')]).toEqual([name, documentedHash(name)]);
  }
});

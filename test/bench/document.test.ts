import { expect, test } from '@jest/globals';
import { readProjectFile } from '../support/project-files.ts';
import { documentPath, replaceBlock } from './document.ts';

const text =
  'before\n<!-- bench one -->\nold\n<!-- /bench -->\nbetween\n<!-- bench two -->\n<!-- /bench -->\n';

test('a block of the document is replaced between its markers, and nothing else', () => {
  const once = replaceBlock(text, 'two', ['| a |', '| b |']);

  expect(once).toBe(
    'before\n<!-- bench one -->\nold\n<!-- /bench -->\nbetween\n<!-- bench two -->\n| a |\n| b |\n<!-- /bench -->\n',
  );
  expect(replaceBlock(once, 'two', [])).toContain('between\n<!-- bench two -->\n\n<!-- /bench -->');
});

test('a block that the document does not have is an error', () => {
  expect(() => replaceBlock(text, 'three', [])).toThrow('has no block <!-- bench three -->');
});

test.each(['orders', 'kinds', 'parts', 'starts'])('the document has the block %s', (name) => {
  expect(replaceBlock(readProjectFile(documentPath), name, ['x'])).toContain(`<!-- bench ${name} -->\nx\n`);
});

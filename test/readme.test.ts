import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../lib/base/errors.ts';
import { faultKinds } from '../lib/paper/faults.ts';
import { faultRows, renderFaultRow } from './support/fault-rows.ts';

const readme = readFileSync('README.md', 'utf8');

/** What stands between the two marks of that name. */
function section(name: string): string {
  const [, text] = new RegExp(`<!-- ${name} -->\n([\\s\\S]*?)<!-- /${name} -->`).exec(readme) ?? [];
  if (text === undefined) throw new Error(`the README has no section ${name}`);
  return text;
}

describe('the README', () => {
  test('shows what the demo prints, but for ports and milliseconds', () => {
    const printed = execFileSync(process.execPath, ['infra/local/demo.ts'], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });

    const shown = section('demo').replaceAll('```\n', '');
    expect(withoutChance(shown)).toBe(withoutChance(printed));
  });

  test('tells what each fault leads to, as the journeys prove it', () => {
    expect(section('faults')).toContain(faultRows.map(renderFaultRow).join(''));
    // Lists are not asked while a stop-limit is sent.
    const strikingCreates = faultKinds.filter((kind) => kind !== 'read_lag');
    expect(new Set(faultRows.map(({ fault }) => fault.fault))).toEqual(new Set(strikingCreates));
  });

  test('names every code a sender can be answered with', () => {
    for (const code of ['invalid_json', 'invalid_signal', 'stale'] as const) {
      expect(catalogue[code].httpStatus).toBe(400);
      expect(readme).toContain(`\`${code}\``);
    }
  });
});

/** Free ports and the machine's speed differ from run to run. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:…')
    .replaceAll(/ +\+\d+ ms/g, ' +… ms')
    .trim();
}

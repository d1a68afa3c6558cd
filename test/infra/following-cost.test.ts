import { describe, expect, test } from '@jest/globals';
import exampleConfig from '../../relay.config.example.ts';
import { readProjectFile } from '../support/project-files.ts';
import { onlyOfType } from './cost.ts';
import { renderFollowingCost, renderKeeping, renderRequests } from './following-cost.ts';
import { countRun, keptEntry, measureFollowing, type RunUsage } from './measure-following.ts';
import { synthesize } from './synthesized.ts';

function tableOf(name: string): string | undefined {
  return new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)<!-- /${name} -->`).exec(
    readProjectFile('docs/builders/cost.md'),
  )?.[1];
}

describe('following orders', () => {
  test('costs what docs/builders/cost.md says, by one measured order', async () => {
    const template = await synthesize({ config: exampleConfig });
    const table = template.resources['RelayLedgerTable'];
    if (table === undefined) throw new Error('the template has no ledger');
    expect(onlyOfType(template, 'AWS::ApiGateway::RestApi')).toBeDefined();

    const usage = await measureFollowing(table);

    expect(tableOf('following')).toBe(renderFollowingCost(usage));
    expect(usage.idleReadUnits).toBe(2);
  });

  test('asks the exchange as often as docs/builders/cost.md says', async () => {
    const counts: [number, number][] = [];
    for (const openOrders of [0, 1, 100, 500])
      counts.push([openOrders, (await countRun(openOrders)).requests]);

    expect(tableOf('requests')).toBe(renderRequests(counts));
  });

  test('keeps the protection of positions for what docs/builders/cost.md says', async () => {
    const runs: [number, RunUsage][] = [];
    for (const entries of [1, 10, 100]) runs.push([entries, await countRun(entries, keptEntry)]);

    expect(tableOf('keeping')).toBe(renderKeeping(runs));
  });
});

import { describe, expect, test } from '@jest/globals';
import exampleConfig from '../../relay.config.example.ts';
import { readProjectFile } from '../support/project-files.ts';
import { onlyOfType } from './cost.ts';
import { renderFollowingCost, renderRequests } from './following-cost.ts';
import { countRequests, measureFollowing } from './measure-following.ts';
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
    expect(usage.idleReadUnits).toBe(1);
  });

  test('asks the exchange as often as docs/builders/cost.md says', async () => {
    const counts: [number, number][] = [];
    for (const openOrders of [0, 1, 100, 500]) counts.push([openOrders, await countRequests(openOrders)]);

    expect(tableOf('requests')).toBe(renderRequests(counts));
  });
});

import { describe, expect, test } from '@jest/globals';
import exampleConfig from '../../relay.config.example.ts';
import { readProjectFile } from '../support/project-files.ts';
import { listPositions, onlyOfType, renderBill } from './cost.ts';
import { measureSignal } from './measure-signal.ts';
import { synthesize } from './synthesized.ts';

const template = await synthesize({ config: exampleConfig });
const usage = await measureSignal(template.resources['RelayLedgerTable'] ?? fail());

function fail(): never {
  throw new Error('the template has no ledger');
}

describe('the monthly bill', () => {
  test('in docs/builders/cost.md is what the template and one measured alert cost', () => {
    const [, table] =
      /<!-- cost -->\n([\s\S]*?)<!-- \/cost -->/.exec(readProjectFile('docs/builders/cost.md')) ?? [];

    expect(table).toBe(renderBill(listPositions(template, usage)));
  });

  test('in the README and in docs/aws.md is the one of docs/builders/cost.md', () => {
    const sums = /\*\*together\*\*[^\n]*/.exec(renderBill(listPositions(template, usage)))?.[0] ?? '';
    const [least = 0, , , leastWithFreeTier = 0] = Array.from(sums.matchAll(/\d+\.\d+/g), ([amount]) =>
      Math.round(Number(amount)),
    );

    expect(readProjectFile('README.md')).toContain(`costs (about $${least} a month)`);
    expect(readProjectFile('docs/aws.md')).toContain(
      `About ${least} dollars a month with 1,000 alerts, ${leastWithFreeTier} within the free tier`,
    );
  });

  test('counts no dashboard: AWS gives three of at most 50 metrics each', () => {
    const { DashboardBody } = onlyOfType(template, 'AWS::CloudWatch::Dashboard').Properties;
    const { widgets } = readDashboard(DashboardBody);
    const metrics = widgets.flatMap(({ properties }) => properties.metrics ?? []);

    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.length).toBeLessThanOrEqual(50);
  });
});

interface DashboardJson {
  readonly widgets: readonly { readonly properties: { readonly metrics?: readonly unknown[] } }[];
}

/** References to resources stand in the text's place as parts of a join. */
function readDashboard(body: unknown): DashboardJson {
  if (typeof body === 'string') return JSON.parse(body) as DashboardJson;
  const [, parts] = (body as { 'Fn::Join': readonly [string, readonly unknown[]] })['Fn::Join'];
  const text = parts.map((part) => (typeof part === 'string' ? part : 'reference')).join('');
  return JSON.parse(text) as DashboardJson;
}

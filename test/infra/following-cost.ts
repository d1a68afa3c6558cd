import { prices } from './cost.ts';
import type { FollowingUsage, RunUsage } from './measure-following.ts';

/** What cannot be measured without AWS, and is assumed. */
const assumed = {
  /** Seconds that a run is longer when it reads the lists of the exchange. */
  runSeconds: 0.3,
  /** Of the function, in gigabytes. */
  memory: 0.5,
  /** How long an order is open. */
  minutesOfOrder: 10,
  /** The function keeps a key for five minutes. */
  minutesOfKey: 5,
} as const;

const months = [10, 1_000, 100_000] as const;

/** The table of docs/builders/cost.md: what following adds, when no two orders are open in the same minute. */
export function renderFollowingCost(usage: FollowingUsage): string {
  const { writeUnitsOfOrder, readUnits, idleReadUnits } = usage;
  const moreReads = readUnits - idleReadUnits;
  const perOrder = 1 / assumed.minutesOfOrder;
  const rows = [
    {
      name: 'Lambda, time',
      perMinute: assumed.runSeconds * assumed.memory * prices.gigabyteSecond,
      calculation: `${assumed.memory} GB × ${assumed.runSeconds} s longer a run`,
    },
    {
      name: 'Reads of secrets',
      perMinute: prices.secretRead / assumed.minutesOfKey,
      calculation: `the key, every ${assumed.minutesOfKey} minutes`,
    },
    {
      name: 'DynamoDB, reads',
      perMinute: moreReads * prices.readUnit,
      calculation: `${readUnits} units a run instead of ${idleReadUnits}`,
    },
    {
      name: 'DynamoDB, writes',
      perMinute: writeUnitsOfOrder * perOrder * prices.writeUnit,
      calculation: `${writeUnitsOfOrder} units an order, which is open for ${assumed.minutesOfOrder} minutes`,
    },
  ];
  const total = rows.reduce((sum, { perMinute }) => sum + perMinute, 0);
  const cells = (perMinute: number, bold = '') =>
    months.map((minutes) => `${bold}${(minutes * perMinute).toFixed(2)}${bold}`).join(' | ');
  return [
    `| open-order minutes a month | ${months.map((minutes) => minutes.toLocaleString('en')).join(' | ')} | calculation |`,
    '| --- | ---: | ---: | ---: | --- |',
    ...rows.map(({ name, perMinute, calculation }) => `| ${name} | ${cells(perMinute)} | ${calculation} |`),
    `| **together** | ${cells(total, '**')} | |`,
    '',
  ].join('\n');
}

/** The runs of a minute: one on AWS, one every three seconds on one machine. */
const runsOfMinute = { aws: 1, local: 20 } as const;

/** The table of docs/builders/cost.md: requests to the exchange. */
export function renderRequests(requests: readonly (readonly [openOrders: number, ofRun: number])[]): string {
  return [
    '| open orders of an account | requests a run | a minute on AWS | a minute on one machine |',
    '| ---: | ---: | ---: | ---: |',
    ...requests.map(
      ([openOrders, ofRun]) =>
        `| ${openOrders} | ${ofRun} | ${ofRun * runsOfMinute.aws} | ${ofRun * runsOfMinute.local} |`,
    ),
    '',
  ].join('\n');
}

/** The table of docs/builders/cost.md: what keeping the protection of positions uses while nothing changes. */
export function renderKeeping(runs: readonly (readonly [entries: number, usage: RunUsage])[]): string {
  const { aws, local } = runsOfMinute;
  return [
    '| entries whose exits are kept | requests a run | a minute on AWS | a minute on one machine | writes a run |',
    '| ---: | ---: | ---: | ---: | ---: |',
    ...runs.map(
      ([entries, { requests, writes }]) =>
        `| ${entries} | ${requests} | ${requests * aws} | ${requests * local} | ${writes} |`,
    ),
    '',
  ].join('\n');
}

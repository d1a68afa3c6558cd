import type { SignalUsage } from './measure-signal.ts';
import type { Resource, SynthesizedTemplate } from './synthesized.ts';

/** What a fixed address adds to the bill of a month, without its traffic. */
export function fixedAddressCost({ resources }: SynthesizedTemplate): number {
  const count = (type: string) => Object.values(resources).filter(({ Type }) => Type === type).length;
  const anHour =
    count('AWS::EC2::NatGateway') * prices.natGatewayHour + count('AWS::EC2::EIP') * prices.publicAddressHour;
  return anHour * (minutesOfMonth / 60);
}

/** What AWS bills under one price. */
interface Position {
  readonly name: string;
  /** Units in a month of that many alerts. */
  readonly quantity: (alerts: number) => number;
  /** US dollars a unit. */
  readonly price: number;
  /** Units a month that no AWS account pays for, in any year: the part of the free tier that does not expire. */
  readonly free: number;
  readonly calculation: string;
}

const million = 1_000_000;
const gigabyte = 1_000_000_000;
const minutesOfMonth = 43_800;

/**
 * List prices of us-east-1 in US dollars, as published in 2025 and 2026; last compared in November 2026.
 *
 * @see https://aws.amazon.com/cloudwatch/pricing/
 * @see https://aws.amazon.com/dynamodb/pricing/on-demand/
 * @see https://aws.amazon.com/lambda/pricing/
 * @see https://aws.amazon.com/sqs/pricing/
 * @see https://aws.amazon.com/api-gateway/pricing/
 * @see https://aws.amazon.com/secrets-manager/pricing/
 * @see https://aws.amazon.com/eventbridge/pricing/
 * @see https://aws.amazon.com/vpc/pricing/
 */
export const prices = {
  secret: 0.4,
  secretRead: 0.05 / 10_000,
  alarm: 0.1,
  metric: 0.3,
  logByte: 0.5 / gigabyte,
  /** Of a REST API. */
  apiRequest: 3.5 / million,
  /** Of an arm64 function. */
  gigabyteSecond: 0.0000133334,
  run: 0.2 / million,
  /** Of a FIFO queue. */
  queueRequest: 0.5 / million,
  writeUnit: 0.625 / million,
  readUnit: 0.125 / million,
  storedByte: 0.25 / gigabyte,
  backedUpByte: 0.2 / gigabyte,
  scheduledRun: 1 / million,
  sentByte: 0.09 / gigabyte,
  natGatewayHour: 0.045,
  publicAddressHour: 0.005,
} as const;

/** What cannot be measured without AWS, and is assumed. */
const assumed = {
  /** Seconds of a warm run: waiting for AWS, and in execute-signal for the exchange. */
  receiveSeconds: 0.06,
  executeSeconds: 0.3,
  reconcileSeconds: 0.1,
  snapshotSeconds: 1,
  /** A call that keeps a function warm: the secrets are read again, and by every second one the list of markets. */
  warmSeconds: 0.1,
  /** Hourly balances, and fees and payments once a day. */
  snapshotRuns: 730 + 2 * 30,
  /** The reconciler compares the keys with their fingerprints every hour. */
  fingerprintRuns: 730,
  /** Lambda polls a queue with five long polls of 20 s; AWS lowers them to two for standard queues only. */
  idlePolls: 5 * 3 * minutesOfMonth,
  /** Of a run that finds nothing: queries of empty indexes. */
  reconcileReadUnits: 4,
  /** The same for each account. */
  followReadUnits: 1,
  /** One line of the access log. */
  accessLogBytes: 400,
  /** The response to the alert, and the request to the exchange. */
  sentBytes: 1_500,
} as const;

/** Every position of the monthly bill of a stack. */
export function listPositions(template: SynthesizedTemplate, usage: SignalUsage): readonly Position[] {
  return [...fixedPositions(template), ...runPositions(template, usage), ...storePositions(template, usage)];
}

function fixedPositions({ resources }: SynthesizedTemplate): readonly Position[] {
  const count = (type: string) => Object.values(resources).filter(({ Type }) => Type === type).length;
  const secrets = count('AWS::SecretsManager::Secret');
  const alarms = count('AWS::CloudWatch::Alarm');
  const metrics = countLogMetrics(resources);
  const otherReads = (assumed.snapshotRuns + assumed.fingerprintRuns) * (secrets / 2);
  const warm = warmCallsOf(resources);
  return [
    fixed('Secrets', secrets, prices.secret, 0, `${secrets} × ${prices.secret}, two for each account`),
    {
      name: 'Reads of secrets',
      quantity: () => warm * (secrets / 2) + otherReads,
      price: prices.secretRead,
      free: 0,
      calculation: `${secrets} every 3 minutes, to keep both functions warm; each snapshot; reconciler each hour`,
    },
    fixed('Alarms', alarms, prices.alarm, 10, `${alarms} × ${prices.alarm}, 10 free`),
    fixed('Metrics of log lines', metrics, prices.metric, 10, `${metrics} × ${prices.metric}, 10 free`),
    fixed(
      'Scheduler',
      minutesOfMonth + assumed.snapshotRuns + warm,
      prices.scheduledRun,
      14 * million,
      'a run each minute; two every 3 minutes, to keep functions warm',
    ),
  ];
}

/** The calls of the month that keep functions warm. */
function warmCallsOf(resources: SynthesizedTemplate['resources']): number {
  const schedules = Object.values(resources).filter(
    ({ Properties }) => Properties['ScheduleExpression'] === 'rate(3 minutes)',
  );
  return schedules.length * (minutesOfMonth / 3);
}

function fixed(name: string, units: number, price: number, free: number, calculation: string): Position {
  return { name, quantity: () => units, price, free, calculation };
}

function countLogMetrics(resources: SynthesizedTemplate['resources']): number {
  const filters = Object.values(resources).filter(({ Type }) => Type === 'AWS::Logs::MetricFilter');
  const transformations = filters.map(({ Properties }) =>
    JSON.stringify(Properties['MetricTransformations']),
  );
  // A metric with dimensions costs only in the hours in which a line gives it a value.
  return new Set(transformations.filter((text) => !text.includes('"Dimensions"'))).size;
}

function runPositions({ resources }: SynthesizedTemplate, usage: SignalUsage): readonly Position[] {
  const gigabytes = (name: string) => Number(resources[name]?.Properties['MemorySize']) / 1024;
  const [receive, execute] = [gigabytes('RelayReceiveFunction'), gigabytes('RelayExecuteFunction')];
  const warm = warmCallsOf(resources);
  const idleSeconds =
    warm * assumed.warmSeconds * execute +
    minutesOfMonth * assumed.reconcileSeconds * gigabytes('RelayReconcileFunction') +
    assumed.snapshotRuns * assumed.snapshotSeconds * gigabytes('RelaySnapshotsBalancesFunction');
  const alertSeconds = receive * assumed.receiveSeconds + execute * assumed.executeSeconds;
  return [
    perAlert('API Gateway', 1, prices.apiRequest, 0, '3.50 per million'),
    {
      name: 'Lambda, time',
      quantity: (alerts) => idleSeconds + alerts * alertSeconds,
      price: prices.gigabyteSecond,
      free: 400_000,
      calculation: `${receive} GB × ${assumed.receiveSeconds} s + ${execute} GB × ${assumed.executeSeconds} s, 400,000 GB-seconds free; reconciler 43,800 × ${assumed.reconcileSeconds} s; kept warm ${warm.toLocaleString('en')} × ${assumed.warmSeconds} s`,
    },
    {
      name: 'Lambda, runs',
      quantity: (alerts) => 2 * alerts + minutesOfMonth + assumed.snapshotRuns + warm,
      price: prices.run,
      free: million,
      calculation: '2 × 0.20 per million; 1 million free',
    },
    {
      name: 'SQS',
      quantity: (alerts) => usage.queueRequests * alerts + assumed.idlePolls,
      price: prices.queueRequest,
      free: million,
      calculation: `${usage.queueRequests} requests × 0.50 per million, 1 million free; idle polls 5 × 3 × 43,800`,
    },
    perAlert(
      'Logs',
      usage.logBytes + assumed.accessLogBytes,
      prices.logByte,
      5 * gigabyte,
      `${usage.logBytes + assumed.accessLogBytes} bytes × 0.50 per GB, 5 GB free`,
    ),
    perAlert(
      'Data sent',
      assumed.sentBytes,
      prices.sentByte,
      100 * gigabyte,
      `${assumed.sentBytes} bytes × 0.09 per GB, 100 GB free`,
    ),
  ];
}

function storePositions(
  { resources }: SynthesizedTemplate,
  { writeUnits, readUnits, storedBytes }: SignalUsage,
): readonly Position[] {
  // Each account has two secrets.
  const accounts =
    Object.values(resources).filter(({ Type }) => Type === 'AWS::SecretsManager::Secret').length / 2;
  const ofRun = assumed.reconcileReadUnits + accounts * assumed.followReadUnits;
  const idleReads = minutesOfMonth * ofRun;
  return [
    perAlert('DynamoDB, writes', writeUnits, prices.writeUnit, 0, `${writeUnits} units × 0.625 per million`),
    {
      name: 'DynamoDB, reads',
      // Beside the ledger's reads, each alert reads the fingerprints of every key.
      quantity: (alerts) => (readUnits + accounts) * alerts + idleReads,
      price: prices.readUnit,
      free: 0,
      calculation: `${readUnits + accounts} units × 0.125 per million; reconciler ${ofRun} a minute`,
    },
    perAlert(
      'Ledger, stored',
      storedBytes,
      prices.storedByte,
      25 * gigabyte,
      `${storedBytes} bytes × 0.25 per GB, 25 GB free`,
    ),
    perAlert('Ledger, backups', storedBytes, prices.backedUpByte, 0, `${storedBytes} bytes × 0.20 per GB`),
  ];
}

function perAlert(name: string, units: number, price: number, free: number, calculation: string): Position {
  return { name, quantity: (alerts) => units * alerts, price, free, calculation };
}

const months = [1_000, 100_000, million] as const;

/** The table of docs/builders/cost.md: a row for each position, at list prices and beyond what is free for good. */
export function renderBill(positions: readonly Position[]): string {
  const amounts = (of: Position) => [
    ...months.map((alerts) => of.quantity(alerts) * of.price),
    ...months.map((alerts) => Math.max(0, of.quantity(alerts) - of.free) * of.price),
  ];
  const sums = positions.map(amounts).reduce((sum, row) => sum.map((value, i) => value + (row[i] ?? 0)));
  const format = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(' | ');
  const bold = (values: readonly number[]) => values.map((value) => `**${value.toFixed(2)}**`).join(' | ');
  const heads = months.map((alerts) => alerts.toLocaleString('en'));
  return [
    `| alerts a month | ${heads.join(' | ')} | ${heads.map((head) => `${head}, free tier`).join(' | ')} | calculation |`,
    `| --- |${' ---: |'.repeat(2 * months.length)} --- |`,
    ...positions.map((of) => `| ${of.name} | ${format(amounts(of))} | ${of.calculation} |`),
    `| **together** | ${bold(sums)} | |`,
    '',
  ].join('\n');
}

/** @throws Error when there are more or fewer of its kind */
export function onlyOfType({ resources }: SynthesizedTemplate, type: string): Resource {
  const [only, ...others] = Object.values(resources).filter(({ Type }) => Type === type);
  if (only === undefined || others.length > 0) throw new Error(`the template has not exactly one ${type}`);
  return only;
}

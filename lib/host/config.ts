import { createHash } from 'node:crypto';
import * as z from 'zod';
import { RelayError } from '../base/errors.ts';
import { baseUrlOf, type Dialect, dialects } from '../exchange/dialect.ts';
import { describeSpotGaps } from '../limits/spot-gaps.ts';
import { describeRegions } from '../model/region.ts';
import type { Settings } from '../model/settings.ts';
import type { NoticeSettings } from '../notices/notice-settings.ts';
import { AccountSchema, MarketName } from './account-config.ts';
import { checkRegions, regionOf } from './check-regions.ts';
import { isTimeZone, parseCron } from './cron.ts';
import { NoticesSchema, noticeSettingsOf } from './notice-config.ts';
import { checkRiskDialect } from './risk-config.ts';

/**
 * The addresses from which TradingView sends alerts.
 *
 * @see https://www.tradingview.com/support/solutions/43000529348-about-webhooks/
 */
export const tradingViewAddresses = ['52.89.214.238', '34.212.75.30', '54.218.53.128', '52.32.178.7'];

/** The retention periods that CloudWatch Logs accepts, in days. @see https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
const logRetentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

const AwsSchema = z.strictObject({
  allowedAddresses: z
    .array(
      z.union(
        [z.ipv4(), z.cidrv4(), z.ipv6(), z.cidrv6()],
        'must be an address or a range like 203.0.113.0/24',
      ),
    )
    .default([]),
  alarmEmail: z.email('must be an e-mail address').nullable().default(null),
  keepWarm: z.boolean().default(true),
  fixedAddress: z.boolean().default(false),
  keepLedgerDays: z.int().min(1).max(3_650).default(400),
  logRetentionDays: z.literal(logRetentions).default(90),
});

/** Stays text: EventBridge Scheduler takes the expression as it is written. */
const CronText = z.string().superRefine((text, context) => {
  try {
    parseCron(text);
  } catch (error) {
    context.addIssue({
      code: 'custom',
      message: error instanceof Error ? error.message : 'is not a cron expression',
    });
  }
});

const SnapshotsSchema = z.strictObject({
  timeZone: z
    .string()
    .refine(isTimeZone, 'must be a name of the tz database, for example "Europe/Kyiv"')
    .default('Etc/UTC'),
  balances: CronText.nullable().default('cron(0 * * * ? *)'),
  fees: CronText.nullable().default('cron(10 0 * * ? *)'),
  interest: CronText.nullable().default('cron(20 0 * * ? *)'),
});

const ConfigSchema = z
  .strictObject({
    exchange: z.strictObject({
      address: z.string().refine(isAddress, {
        error: 'must be "global", "eu" or an https URL (http on this machine only)',
        // What is checked after it compares addresses.
        abort: true,
      }),
      dialect: z.enum(dialects),
    }),
    tickers: z.record(z.string().min(1), MarketName),
    maxLagSeconds: z.number().positive().max(86_400),
    unknownAlarmMinutes: z.int().min(1).max(1_440).default(15),
    accounts: z
      .record(z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -'), AccountSchema)
      .refine((accounts) => Object.keys(accounts).length > 0, 'must name at least one account'),
    snapshots: SnapshotsSchema.prefault({}),
    notices: NoticesSchema.prefault({}),
    aws: AwsSchema.prefault({}),
  })
  .superRefine(checkRegions)
  .superRefine(checkRiskDialect);

function isAddress(address: string): boolean {
  try {
    baseUrlOf(address);
    return true;
  } catch {
    return false;
  }
}

/** The type of the value that relay.config.ts exports. */
export type RelayConfig = z.input<typeof ConfigSchema>;

/** Settings of the AWS deployment only. */
export interface AwsSettings {
  /** Addresses or ranges that may call the webhook, besides TradingView's own. */
  readonly allowedAddresses: readonly string[];
  /** Null: no alarm is sent by e-mail. */
  readonly alarmEmail: string | null;
  /** Whether the functions on the way of an alert are called every few minutes, so that no alert waits for their start. */
  readonly keepWarm: boolean;
  /** Whether every request to the exchange comes from one address that stays. */
  readonly fixedAddress: boolean;
  /** How long the ledger keeps an entry once its signal is settled. */
  readonly keepLedgerDays: number;
  readonly logRetentionDays: (typeof logRetentions)[number];
}

/** When each snapshot is taken: cron expressions in the syntax of EventBridge Scheduler; null: never. */
export interface SnapshotSettings {
  /** The time zone of the expressions, as a name of the tz database. */
  readonly timeZone: string;
  readonly balances: string | null;
  readonly fees: string | null;
  readonly interest: string | null;
}

/** The configuration, checked and converted to the model's types. */
export interface HostConfig {
  readonly exchange: { readonly address: string; readonly dialect: Dialect };
  readonly settings: Settings;
  readonly snapshots: SnapshotSettings;
  readonly notices: NoticeSettings;
  readonly aws: AwsSettings;
}

/**
 * Checks the whole configuration.
 *
 * @param file what errors call it
 * @throws RelayError `config_invalid` with one issue for every mistake, each with its path
 */
export function parseConfig(config: unknown, file = 'relay.config.ts'): HostConfig {
  const parsed = ConfigSchema.safeParse(config);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => ({
      path: path.join('.'),
      message,
      hint: 'see the comments in relay.config.example.ts',
    }));
    throw new RelayError('config_invalid', `${file} has ${issues.length} mistake(s)`, { issues });
  }
  const { exchange, tickers, maxLagSeconds, unknownAlarmMinutes, accounts, snapshots, notices, aws } =
    parsed.data;
  return {
    exchange,
    snapshots,
    notices: noticeSettingsOf(notices, accounts),
    aws,
    settings: {
      tickers,
      defaultMaxLagMs: maxLagSeconds * 1000,
      unknownAlarmAfterMs: unknownAlarmMinutes * 60_000,
      accounts: Object.fromEntries(
        Object.entries(accounts).map(([name, { notices: _, ...account }]) => [
          name,
          { name, ...account, region: regionOf(account, exchange.address) },
        ]),
      ),
    },
  };
}

/** A SHA-256 digest, as hex, of what a relay on an own machine does with its configuration; comments change nothing. */
export function digestConfig({ exchange, settings, snapshots, notices }: HostConfig): string {
  return createHash('sha256')
    .update(JSON.stringify({ exchange, settings, snapshots, notices }))
    .digest('hex');
}

/** What an error of the relay says, each mistake of a configuration on its line, and what to do; null for any other error. */
export function explainConfigError(error: unknown): string | null {
  if (!(error instanceof RelayError)) return null;
  const issues = error.issues.map(
    ({ path, message, hint }) => `  ${path === '' ? '' : `${path}: `}${message} (${hint})`,
  );
  return [error.message, ...issues, error.row.action].join('\n');
}

/** For each region that restricts some of the accounts, one sentence on what it leaves to them. */
export function listRegionNotes({ accounts }: Settings): readonly string[] {
  return describeRegions(accounts);
}

/** What the limits of the accounts leave out on spot, one sentence each. */
export function listLimitNotes({ accounts }: Settings): readonly string[] {
  return Object.values(accounts).flatMap((account) =>
    describeSpotGaps(account).map((gap) => `${account.name}: ${gap}`),
  );
}

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { type Bundles, functionNames } from '../../infra/aws/bundle.ts';
import { RelayStack } from '../../infra/aws/relay-stack.ts';
import { parseConfig, type RelayConfig } from '../../lib/host/config.ts';
import { readProjectFile } from '../support/project-files.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

/** A template whose logical ids have lost the hash at their end: `RelayLedgerTable`. */
export interface SynthesizedTemplate {
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** The template as the CDK wrote it. */
  readonly text: string;
  /** The warnings that the CDK prints at synth and deploy. */
  readonly warnings: readonly string[];
}

export const infraConfig = {
  exchange: { address: 'global', dialect: 'live' },
  tickers: { BTCUSDT: 'BTC_USDT' },
  maxLagSeconds: 45,
  accounts: {
    main: { mode: 'live', markets: { BTC_USDT: { tradesOn: 'margin' } } },
    rehearsal: { mode: 'dry-run', markets: { BTC_USDT: { tradesOn: 'margin' } } },
  },
  snapshots: {
    timeZone: 'Europe/Kyiv',
    balances: 'cron(0/30 * * * ? *)',
    fees: 'cron(10 6 ? * MON-FRI *)',
    interest: 'cron(20 6 * * ? *)',
  },
  aws: {
    allowedAddresses: ['203.0.113.7', '198.51.100.0/24'],
    alarmEmail: 'owner@relay.example',
    logRetentionDays: 30,
  },
} satisfies RelayConfig;

/**
 * Synthesizes the stack as the CDK app does, with all checks, but with empty functions.
 *
 * @param options.change adds to the stack
 * @throws Error that names every finding of the rule packs and of the property validation
 */
export function synthesize(
  options: {
    readonly config?: RelayConfig;
    readonly stage?: string;
    readonly change?: (stack: Stack) => void;
  } = {},
): SynthesizedTemplate {
  const folder = mkdtempSync(join(tmpdir(), 'relay-synth-'));
  try {
    const { context } = JSON.parse(readProjectFile('cdk.json')) as { context: Record<string, unknown> };
    const app = new App({ outdir: join(folder, 'out'), context, analyticsReporting: false });
    const { config = infraConfig, stage = 'prod' } = options;
    const stack = new RelayStack(app, `trading-relay-${stage}`, {
      stage,
      config: parseConfig(config),
      bundles: createEmptyBundles(folder),
    });
    options.change?.(stack);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
    const { messages } = app.synth().getStackByName(stack.stackName);
    const warnings = messages
      .filter(({ level }) => level === 'warning')
      .map(({ entry }) => String(entry.data));
    return { ...readTemplate(join(app.outdir, `${stack.stackName}.template.json`)), warnings };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function createEmptyBundles(folder: string): Bundles {
  const folders = functionNames.map((name) => [name, join(folder, name)] as const);
  for (const [name, path] of folders) {
    mkdirSync(path);
    writeFileSync(join(path, 'index.js'), `exports.handler = async () => '${name}';\n`);
  }
  return Object.fromEntries(folders) as Bundles;
}

function readTemplate(path: string): Omit<SynthesizedTemplate, 'warnings'> {
  const text = readFileSync(path, 'utf8');
  const { Resources, Outputs } = JSON.parse(withoutHashes(text)) as {
    Resources: Record<string, Resource>;
    Outputs: Record<string, unknown>;
  };
  return { resources: Resources, outputs: Outputs, text };
}

/** Removes the hash from every logical id, in every place where the id occurs. */
function withoutHashes(text: string): string {
  const { Resources } = JSON.parse(text) as { Resources: Record<string, Resource> };
  const names = new Map(
    Object.keys(Resources).map((id) => [id, id.replace(/[0-9A-F]{8}(?:[0-9a-f]{32})?$/, '')]),
  );
  if (new Set(names.values()).size < names.size) throw new Error('two logical ids differ by their hash only');
  return text.replace(/"(\w+)"/g, (_, word: string) => `"${names.get(word) ?? word}"`);
}

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { RelayConfig } from '../../lib/host/config.ts';
import { readSynthesizerUrl } from '../support/run-environment.ts';
import type { AdditionName } from './synthesis.ts';

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

export interface SynthesisRequest {
  readonly config: RelayConfig;
  readonly stage: string;
  /** What is added to the stack. */
  readonly addition: AdditionName | null;
}

/** What the synthesizer answers: a template, or what the checks found. */
export type SynthesisResult = { readonly template: SynthesizedTemplate } | { readonly findings: string };

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
 * The stack as the CDK app synthesizes it, with all checks, but with empty functions. Each is synthesized once in a run
 * of the tests, whichever files ask for it.
 *
 * @throws Error that names every finding of the rule packs and of the property validation
 */
export async function synthesize(options: Partial<SynthesisRequest> = {}): Promise<SynthesizedTemplate> {
  const asked: SynthesisRequest = { config: infraConfig, stage: 'prod', addition: null, ...options };
  const sent = request(readSynthesizerUrl(), { method: 'POST', agent: false });
  sent.end(JSON.stringify(asked));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const result = JSON.parse(await text(response)) as SynthesisResult;
  if ('findings' in result) throw new Error(result.findings);
  return result.template;
}

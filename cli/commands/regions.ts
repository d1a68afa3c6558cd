import type { Command } from 'commander';
import { describeError } from '../../lib/base/describe-error.ts';
import { baseUrlOf } from '../../lib/exchange/dialect.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { type Distance, measureDistance } from '../checks/measure-distance.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { timeoutMs } from '../session/exchange.ts';
import { renderTable } from '../show/table.ts';

interface RegionOptions {
  readonly address?: string;
  readonly samples: number;
}

const usualSamples = 9;
const mostSamples = 50;

/**
 * Regions of AWS near the places that the exchange names for the servers of its market makers. It does not say where its
 * public address leads: only a measurement tells.
 */
const candidates = [
  { region: 'eu-central-1', place: 'Frankfurt' },
  { region: 'ap-northeast-1', place: 'Tokyo' },
] as const;
const known = {
  says: 'the exchange offers colocation in Frankfurt and Tokyo; where its public address leads, it does not say',
  source: 'https://docs.whitebit.com/guides/market-maker-guide',
  readOn: '2026-11-24',
} as const;

export function addRegionsCommand(program: Command): void {
  program
    .command('regions')
    .description('measure how far the exchange is from here, and how to compare regions of AWS')
    .option('--address <address>', 'global, eu or a URL (default: exchange.address of the configuration)')
    .option('--samples <n>', 'how often it is measured', readCount(1, mostSamples), usualSamples)
    .action((options: RegionOptions, command: Command) =>
      runCommand(command, (context) => showRegions(context, options)),
    );
}

async function showRegions({ session, terminal, print }: Context, options: RegionOptions): Promise<void> {
  const exchangeUrl = readAddress(options.address ?? session.exchangeAddress);
  const distance = await measure(exchangeUrl, options.samples);
  // Set in CloudShell, too.
  const region = process.env['AWS_REGION'] ?? null;
  const command = compareCommand(exchangeUrl, options.samples);
  print({ exchangeUrl, region, ...distance, candidates, known, command }, () =>
    [
      `${exchangeUrl} from ${region ?? 'here'}, in milliseconds, median of ${distance.samples}:`,
      renderTable(
        ['connect', 'TLS', 'request', 'all three'].map((title) => ({ title, align: 'right' as const })),
        [
          [distance.connectMs, distance.tlsMs ?? '–', distance.requestMs, distance.newConnectionMs].map(
            String,
          ),
        ],
        terminal,
      ),
      '',
      `Regions to compare: ${candidates.map(({ region: name, place }) => `${name} (${place})`).join(', ')}, and the one you would use otherwise: ${known.says} (${known.source}, read ${known.readOn}).`,
      'Open AWS CloudShell in each, and run this line. It prints three times of the median request, in seconds: connected, TLS done, first byte. Deploy where the last is least:',
      command,
    ].join('\n'),
  );
}

/** @throws CommandFailure (usage) */
function readAddress(address: string): string {
  try {
    return baseUrlOf(address);
  } catch (error) {
    throw createUsageFailure(describeError(error), 'Name it with --address: global, eu or an https URL.');
  }
}

async function measure(baseUrl: string, samples: number): Promise<Distance> {
  try {
    return await measureDistance({ baseUrl, path: ping.path.live, samples, timeoutMs });
  } catch (error) {
    throw new CommandFailure(
      'exchange_unreachable',
      `the distance to ${baseUrl} cannot be measured: ${describeError(error)}`,
      'Check the address, the network and a proxy in between. Where the exchange turns an address or a country away, a relay cannot run either.',
    );
  }
}

/** A line for CloudShell, which has curl, but not this project. */
function compareCommand(exchangeUrl: string, samples: number): string {
  const write = '%{time_connect} %{time_appconnect} %{time_starttransfer}\\n';
  const median = Math.ceil(samples / 2);
  return `for i in $(seq ${samples}); do curl -so /dev/null -w '${write}' ${exchangeUrl}${ping.path.live}; done | sort -k3 -n | sed -n ${median}p`;
}

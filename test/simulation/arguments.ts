import { parseArgs } from 'node:util';
import { dialects } from '../../lib/exchange/dialect.ts';
import { type OrderKindName, orderKindNames } from '../../lib/model/order.ts';
import { parseShare, type Share } from '../support/share.ts';
import { mostSignals } from './alerts.ts';
import { mutantNamed } from './mutants.ts';
import { parseSeeds } from './seeds.ts';
import type { Range } from './tally.ts';

/** The parsed command line. */
export type Request =
  | { readonly kind: 'seeds'; readonly range: Range }
  | {
      readonly kind: 'mutants';
      readonly signals: number;
      readonly orderKind: OrderKindName | null;
      readonly share: Share;
    }
  | { readonly kind: 'matrix' }
  | { readonly kind: 'help' };

export const usage = `npm run simulate -- [--seeds A..B|SEED|rotating:COUNT] [--signals N] [--dialect live|documented]
                    [--kind ${orderKindNames.join('|')}] [--mutant NAME | --mutants [--share PART/PARTS] | --matrix]`;

/**
 * Parses the command line; without a dialect, every seed is run in both.
 *
 * @throws RangeError for an invalid value, or TypeError for an unknown option
 */
export function parseRequest(args: readonly string[], nowMs: number): Request {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1..1000' },
      signals: { type: 'string', default: '12' },
      dialect: { type: 'string' },
      kind: { type: 'string' },
      mutant: { type: 'string' },
      mutants: { type: 'boolean', default: false },
      share: { type: 'string', default: '1/1' },
      matrix: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return { kind: 'help' };
  if (values.matrix) return { kind: 'matrix' };
  const signals = parseSignals(values.signals);
  const orderKind = parseKind(values.kind);
  if (values.mutants) return { kind: 'mutants', signals, orderKind, share: parseShare(values.share) };
  const mutant = values.mutant === undefined ? null : mutantNamed(values.mutant).name;
  const range = {
    ...parseSeeds(values.seeds, nowMs),
    dialects: parseDialects(values.dialect),
    signals,
    mutant,
    kind: orderKind,
  };
  return { kind: 'seeds', range };
}

function parseSignals(text: string): number {
  const signals = Number(text);
  if (Number.isInteger(signals) && signals >= 1 && signals <= mostSignals) return signals;
  throw new RangeError(`"${text}" is not a number of signals from 1 to ${mostSignals}`);
}

function parseKind(text: string | undefined): OrderKindName | null {
  if (text === undefined) return null;
  const kind = orderKindNames.find((name) => name === text);
  if (kind !== undefined) return kind;
  throw new RangeError(`"${text}" is not a kind of order; it must be one of ${orderKindNames.join(', ')}`);
}

function parseDialects(text: string | undefined): Range['dialects'] {
  const asked = dialects.filter((dialect) => text === undefined || dialect === text);
  if (asked.length > 0) return asked;
  throw new RangeError(`"${text}" is not a dialect; it must be one of ${dialects.join(', ')}`);
}

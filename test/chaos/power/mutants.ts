import type { Wrong } from '../evidence.ts';

/** A deliberate defect of the relay that only a power cut shows. */
export interface PowerMutant {
  readonly name: string;
  /** The defect, in a few words. */
  readonly breaks: string;
  /** What the audit must find. */
  readonly shows: readonly Wrong[];
  /** Options of Node that bring it into the process. */
  readonly nodeOptions: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const defect = new URL('defect.ts', import.meta.url).href;

function spoil(name: string, breaks: string, ...shows: readonly Wrong[]): PowerMutant {
  return { name, breaks, shows, nodeOptions: ['--import', defect], environment: { POWER_DEFECT: name } };
}

export const powerMutants: readonly PowerMutant[] = [
  spoil('synchronous-normal', 'the database flushes its log at checkpoints only', 'lost'),
  spoil('accept-unflushed', 'an alert is acknowledged before its entry is flushed', 'lost'),
  spoil('send-unflushed', 'an order is sent before `sending` is flushed', 'duplicated'),
  spoil('notices-unasked', 'a notice counts as told, whatever the service answered', 'untold'),
  spoil('notices-unkept', 'what was told is never noted', 'retold'),
];

/** A deliberate defect of the relay that only a power cut shows. */
export interface PowerMutant {
  readonly name: string;
  /** The defect, in a few words. */
  readonly breaks: string;
  /** Options of Node that bring it into the process. */
  readonly nodeOptions: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const defect = new URL('defect.ts', import.meta.url).href;

function spoil(name: string, breaks: string): PowerMutant {
  return { name, breaks, nodeOptions: ['--import', defect], environment: { POWER_DEFECT: name } };
}

export const powerMutants: readonly PowerMutant[] = [
  spoil('synchronous-normal', 'the database flushes its log at checkpoints only'),
  spoil('accept-unflushed', 'an alert is acknowledged before its entry is flushed'),
  spoil('send-unflushed', 'an order is sent before `sending` is flushed'),
];

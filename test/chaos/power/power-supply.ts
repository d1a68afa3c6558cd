import type { Random } from '../../../lib/base/random.ts';
import { between } from '../chance.ts';
import type { RelayStart } from '../relay-keeper.ts';
import type { PowerMutant } from './mutants.ts';
import type { PlayedDisk } from './played-disk.ts';

/** How a process of the relay ended. After each of these but `killed`, the power was cut. */
export interface EndCounts {
  /** It ended itself after a call on a file, the first such calls of an empty folder apart. */
  calls: number;
  /** It ended itself after a flush. */
  flushes: number;
  /** It ended itself after it had handed bytes to a connection: a response, or a request to the exchange. */
  sends: number;
  /** It was killed at some time. */
  anytime: number;
  /** It had stopped as it was told to. */
  stopped: number;
  /** It ended while it made its data folder. */
  firstStarts: number;
  /** It was killed, and the power stayed on: the next process reads what was not flushed. */
  killed: number;
}

/** `first_starts`: every other process finds an empty disk. `calm`: no power cuts. */
type Mode = 'first_starts' | 'cuts' | 'calm';

/** Decides when the power is cut, and what the next process finds. */
export interface PowerSupply {
  mode: Mode;
  /** To be called before each start of a process. */
  prepareStart(): RelayStart;
  /** To be called when a process has ended. */
  hasCutItself(): boolean;
  /** Says how the present process is about to be ended, if it does not end itself before. */
  announce(end: 'anytime' | 'stopped' | 'killed'): void;
  readonly ends: Readonly<EndCounts>;
}

type CutPlace = 'calls' | 'flushes' | 'sends';

/**
 * The most that are counted before a cut. A start makes about 30 calls, and ten signals about 350, with 20 flushes and
 * 25 sends: so some cuts strike while the relay starts, and few never strike.
 */
const furthest: Readonly<Record<CutPlace, number>> = { calls: 400, flushes: 24, sends: 24 };
/** A relay that makes its data folder has started after about this many calls. */
const callsOfFirstStart = 160;

export function createPowerSupply(disk: PlayedDisk, random: Random, mutant: PowerMutant | null): PowerSupply {
  const ends = { calls: 0, flushes: 0, sends: 0, anytime: 0, stopped: 0, firstStarts: 0, killed: 0 };
  let starts = 0;
  let planned: keyof EndCounts = 'killed';
  let announced: keyof EndCounts = 'anytime';
  let hasCutItself = false;

  function drawCut(mode: Mode): string | null {
    if (mode === 'calm') return null;
    if (mode === 'first_starts') {
      planned = 'firstStarts';
      return `calls:${Math.ceil(between(random, 0, callsOfFirstStart))}`;
    }
    // A mutant shows its defect when the power is cut right after something left the relay.
    const chance = mutant === null ? random() : 1;
    if (chance < 0.15) return null;
    const place: CutPlace = chance < 0.5 ? 'calls' : chance < 0.7 ? 'flushes' : 'sends';
    planned = place;
    return `${place}:${Math.ceil(between(random, 0, furthest[place]))}`;
  }

  function endLife(mode: Mode): void {
    hasCutItself = disk.takeIn() || hasCutItself;
    const end = hasCutItself ? planned : announced;
    if (mode !== 'calm') ends[end] += 1;
    if (mode !== 'calm' && end !== 'killed') disk.cutPower();
    if (mode === 'first_starts' && starts % 2 === 0) disk.empty();
  }

  const supply: PowerSupply = {
    mode: 'first_starts',
    ends,
    prepareStart() {
      if (starts > 0) endLife(supply.mode);
      starts += 1;
      hasCutItself = false;
      announced = 'anytime';
      const environment = { ...disk.environment(drawCut(supply.mode)), ...mutant?.environment };
      return { environment, nodeOptions: mutant?.nodeOptions ?? [] };
    },
    hasCutItself() {
      hasCutItself = disk.takeIn();
      return hasCutItself;
    },
    announce(end) {
      announced = end;
    },
  };
  return supply;
}

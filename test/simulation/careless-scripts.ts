import type { Random } from '../../lib/base/random.ts';
import type { Alert } from './alerts.ts';
import { rollChance, rollWhole } from './dice.ts';
import type { FaultPlan } from './faults.ts';

type Message = Readonly<Record<string, unknown>>;

/** A later alert of the same script, and after what time it fires. */
interface Successor {
  readonly alert: Alert;
  readonly afterMs: number;
}

/** What a script sends instead of an alert that was drawn. */
interface Written {
  readonly alert: Alert;
  /** The hazard that struck; null: the alert is as it was drawn. */
  readonly hazard: 'one_id' | 'no_identity' | null;
  readonly successors: readonly Successor[];
}

const onlyId = 'Long';
const longestPauseMs = 120_000;

/** The alert as a script writes it whose author did not ask how the relay tells one alert from the next. */
export function writeCarelessly(alert: Alert, faults: FaultPlan, random: Random): Written {
  const message: unknown = JSON.parse(alert.body);
  // The alerts of strategies that hold positions are left alone: what they want in the end must be known.
  if (!alert.name.startsWith('a') || alert.isForged || Array.isArray(message))
    return { alert, hazard: null, successors: [] };
  if (faults.strikes('one_id'))
    return written('one_id', alert, withOneId(message as Message, random), random);
  if (faults.strikes('no_identity'))
    return written('no_identity', alert, withoutTime({ ...(message as Message), id: undefined }), random);
  return { alert, hazard: null, successors: [] };
}

/** Each alert of the script has the same bytes, or bytes of its own where it states a time. */
function written(hazard: 'one_id' | 'no_identity', drawn: Alert, message: Message, random: Random): Written {
  const alert = { ...drawn, body: JSON.stringify(message) };
  const successors = ['b', 'c']
    .filter(() => rollChance(random, 0.6))
    .map((letter) => ({
      alert: { ...alert, name: `${drawn.name}${letter}` },
      afterMs: rollWhole(random, 0, longestPauseMs),
    }));
  return { alert, hazard, successors };
}

function withOneId(message: Message, random: Random): Message {
  const own = { ...message, id: onlyId };
  return rollChance(random, 0.5) ? own : withoutTime(own);
}

function withoutTime({ time: _, maxLag: __, ...rest }: Message): Message {
  return rest;
}

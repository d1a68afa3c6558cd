import type { AlarmName, Alarms } from '../../lib/base/alarms.ts';
import type { Json } from '../../lib/base/json.ts';

/** An alarm that was raised: its name, and its facts beside it. */
export interface RaisedAlarm {
  readonly name: AlarmName;
  readonly [fact: string]: Json;
}

/** Records alarms instead of logging them; `raised`, oldest first. */
export function recordAlarms(): { readonly alarms: Alarms; readonly raised: readonly RaisedAlarm[] } {
  const raised: RaisedAlarm[] = [];
  return { alarms: { raise: ({ name }, facts) => void raised.push({ ...facts, name }) }, raised };
}

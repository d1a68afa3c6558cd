import type { Entry } from '../../lib/ledger/entry.ts';
import { resendWindowMs } from '../../lib/ledger/ledger.ts';
import { fingerprintOf } from '../../lib/signals/identity.ts';
import type { Alert } from './alerts.ts';
import { keyText, type SenderResponse, widestSkewMs } from './history.ts';
import type { Facts, Violation } from './invariants.ts';

/** Finds alerts that placed nothing in silence because they looked like earlier ones, and resends that were taken for alerts. */
export function findWrongRepeats(facts: Facts): readonly Violation[] {
  const repeats = facts.history.responses.flatMap((response) => readRepeat(response) ?? []);
  const told = repeats.filter(({ mustBeTold }) => mustBeTold);
  return [
    ...findUnrecorded(facts, told),
    ...findUnalarmed(facts, told),
    ...findLateDuplicates(facts, repeats),
    ...findDoubled(facts),
  ];
}

function broken(harm: Violation['harm'], text: string): Violation {
  return { invariant: 'I31', harm, text };
}

/** A response that says that nothing was placed, because these bytes or this id were used before. */
interface Repeat {
  readonly response: SenderResponse;
  /** False: only a resend was recognised. */
  readonly mustBeTold: boolean;
  /** The signals that came first. */
  readonly firstIds: readonly string[];
}

interface Body {
  readonly signalId?: string;
  readonly duplicate?: boolean;
  readonly signals?: readonly { readonly signalId: string; readonly duplicate?: boolean }[];
  readonly error?: { readonly message: string };
}

function readRepeat(response: SenderResponse): Repeat | null {
  if (response.body === '') return null;
  const body = JSON.parse(response.body) as Body;
  const refused = /before, .* by signal "([^"]+)"/.exec(body.error?.message ?? '')?.[1];
  if (refused !== undefined) return { response, mustBeTold: true, firstIds: [refused] };
  const signals = body.signals ?? [{ signalId: body.signalId ?? '', duplicate: body.duplicate ?? false }];
  if (!signals.some(({ duplicate }) => duplicate === true)) return null;
  const firstIds = signals.map(({ signalId }) => signalId);
  return { response, mustBeTold: isByArrival(response.alert), firstIds };
}

/** Whether neither an id nor a time tells the alert from the next one. */
function isByArrival({ body }: Alert): boolean {
  const items = [JSON.parse(body) as unknown].flat() as readonly Readonly<Record<string, unknown>>[];
  return items.every(({ id, time }) => id === undefined && time === undefined);
}

function bytesOf({ account, body }: Alert): string {
  return `${account} ${fingerprintOf(Buffer.from(body))}`;
}

/** Each delivery has a record of its own that names the first signal. */
function findUnrecorded({ entries }: Facts, repeats: readonly Repeat[]): readonly Violation[] {
  const records = Map.groupBy(
    entries.filter(({ status, steps }) => status === 'invalid' && firstIdIn(steps[0]?.evidence) !== null),
    ({ account, fingerprint }) => `${account} ${fingerprint}`,
  );
  const byBytes = Map.groupBy(repeats, ({ response }) => bytesOf(response.alert));
  return [...byBytes].flatMap(([bytes, answered]) => {
    const recorded = (records.get(bytes) ?? []).length;
    if (recorded >= answered.length) return [];
    const names = answered.map(({ response }) => response.alert.name).join(', ');
    return [
      broken('silent', `${names} repeated an alert, ${answered.length} times, and ${recorded} are recorded`),
    ];
  });
}

function firstIdIn(evidence: unknown): unknown {
  return typeof evidence === 'object' && evidence !== null && 'firstSignalId' in evidence
    ? evidence.firstSignalId
    : null;
}

/** A process raises this alarm at most once an hour; its clock may be changed in between. */
const longestSilenceMs = 60 * 60_000 + 30_000;

function findUnalarmed({ history }: Facts, repeats: readonly Repeat[]): readonly Violation[] {
  return repeats
    .filter(
      ({ response, firstIds }) =>
        !history.alarms.some(
          ({ name, atMs, facts }) =>
            name === 'alert_repeated' &&
            facts['account'] === response.alert.account &&
            isSameSource(String(facts['firstSignalId']), firstIds) &&
            atMs <= response.atMs &&
            atMs > response.atMs - longestSilenceMs,
        ),
    )
    .map(({ response }) =>
      broken('silent', `${response.alert.name} repeated an alert, and no alarm was raised`),
    );
}

/** Of bytes without id and time, the alarm may have named an earlier signal. */
function isSameSource(alarmed: string, firstIds: readonly string[]): boolean {
  return firstIds.some((id) => id === alarmed || (id.startsWith('h-') && alarmed.startsWith('h-')));
}

/** From the arrival to the response: two slow steps. */
const longestHandlingMs = 30_000;

/** Where a clock was set back, or a process stood still, the relay cannot know how late the repeat is. */
function findLateDuplicates({ history }: Facts, repeats: readonly Repeat[]): readonly Violation[] {
  if (history.freezes.length > 0 || history.faults.has('clocks: set back')) return [];
  return repeats
    .filter(({ response }) => response.httpStatus === 200)
    .flatMap(({ response, firstIds }) => {
      const { account, name } = response.alert;
      const firstAtMs = history.statuses.get(keyText({ account, signalId: firstIds[0] ?? '' }))?.[0]?.atMs;
      const lateMs = response.atMs - (firstAtMs ?? response.atMs);
      if (lateMs <= resendWindowMs + 2 * widestSkewMs + longestHandlingMs) return [];
      return [broken('lost', `${name} was answered as a resend of ${firstIds[0]}, ${lateMs} ms after it`)];
    });
}

/** Finds two signals of the same bytes without id and time that are so near that the second may be a resend. */
function findDoubled({ history, entries }: Facts): readonly Violation[] {
  if (history.freezes.length > 0) return [];
  const alerts = new Map(history.responses.map(({ alert }) => [bytesOf(alert), alert]));
  const isNamedByArrival = ({ account, fingerprint }: Entry) => {
    const alert = alerts.get(`${account} ${fingerprint}`);
    return alert !== undefined && isByArrival(alert);
  };
  const storedAtMs = (entry: Entry) => history.statuses.get(keyText(entry))?.[0]?.atMs ?? entry.createdAtMs;
  const groups = Map.groupBy(
    entries.filter((entry) => entry.signal !== null && isNamedByArrival(entry)),
    ({ account, fingerprint }) => `${account} ${fingerprint}`,
  );
  return [...groups.values()].flatMap((group) => {
    const times = group.map(storedAtMs).sort((a, b) => a - b);
    const nearestMs = Math.min(...times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0)));
    if (nearestMs >= resendWindowMs - 2 * widestSkewMs) return [];
    return [
      broken(
        'duplicated',
        `${group[0]?.signalId} was stored again ${nearestMs} ms later, for the same bytes`,
      ),
    ];
  });
}

import { read } from '../calls.ts';
import type { Attention } from '../documents.ts';
import { about, doneCount } from '../state.ts';
import { useReading } from '../use-reading.ts';
import { showAge, showTime } from '../words.ts';
import { Link } from './basics.tsx';
import { UntoldWarning } from './notices.tsx';

/** What must not be overlooked, above every view. */
export function Warnings() {
  const { document: shown } = useReading(
    (signal) => read<Attention>('/api/attention', {}, signal),
    String(doneCount.value),
    about.value?.refreshMs ?? 2_000,
    { keeps: true },
  );
  const { unknown: open, pauses } = shown ?? { unknown: [], pauses: [] };
  // The longest that nobody knows something; the newest come first.
  const sinceMs = open.at(-1)?.updatedAtMs;
  const isQuiet = open.length === 0 && pauses.length === 0 && (about.value?.untold.length ?? 0) === 0;
  if (isQuiet) return null;
  return (
    <div class="warnings">
      <UntoldWarning />
      {sinceMs !== undefined && (
        <p class="note alarm" role="alert">
          <strong>
            {open.length === 1
              ? 'The outcome of one signal is unknown'
              : `The outcomes of ${open.length} signals are unknown`}
          </strong>
          {open.length === 1
            ? `: it was sent, and the answer was lost (${showAge(sinceMs)}). The relay looks it up.`
            : `: they were sent, and the answers were lost (the first ${showAge(sinceMs)}). The relay looks them up.`}{' '}
          {open.slice(0, 5).map(({ account, signalId, market }) => (
            <Link
              key={account + signalId}
              class="button"
              href={`/signals/${account}/${encodeURIComponent(signalId)}`}
            >
              Settle {signalId.slice(0, 12)} in {market}
            </Link>
          ))}
        </p>
      )}
      {pauses.map(({ account, sinceMs, reason, kind }) => (
        <p key={account} class="note waiting">
          <strong>{account} is paused</strong> since {showTime(sinceMs)}:{' '}
          {kind === 'everything' ? 'no order goes out' : 'nothing opens or enlarges a position'} ({reason}).{' '}
          <Link href="/health">Resume</Link>
        </p>
      ))}
    </div>
  );
}

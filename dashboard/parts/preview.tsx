import type { MessageCheck, OrderPreview } from '../documents.ts';
import { Badge, Folded } from './basics.tsx';

/** What a message says to the relay: its faults, or the orders that it becomes. */
export function PreviewList({ check }: { readonly check: MessageCheck | null }) {
  if (check === null) return null;
  const { issues, previews } = check;
  if (issues.length > 0)
    return (
      <div class="note bad">
        <strong>The relay would refuse it:</strong>
        <ul>
          {issues.map(({ path, message, hint }) => (
            <li key={path + message}>
              {path === '' ? '' : <code>{path}</code>} {message}
              {hint === '' ? '' : ` – ${hint}`}
            </li>
          ))}
        </ul>
      </div>
    );
  return (
    <ul class="plain">
      {previews.map((preview, index) => (
        <Preview key={index} preview={preview} />
      ))}
    </ul>
  );
}

const tones = { ready: 'good', refused: 'bad', denied: 'bad', later: 'waiting' } as const;
const words = {
  ready: 'would be sent',
  refused: 'would be refused',
  denied: 'would be denied',
  later: 'follows when due',
} as const;

function Preview({
  preview: { says, verdict, note, requests, sizedOn },
}: {
  readonly preview: OrderPreview;
}) {
  return (
    <li class="card">
      <p>
        <Badge tone={tones[verdict]}>{words[verdict]}</Badge> <strong>{says}</strong>
      </p>
      <p>{note}.</p>
      {requests.length > 0 && (
        <Folded title="The request to the exchange" value={requests.length === 1 ? requests[0] : requests} />
      )}
      {sizedOn !== null && <Folded title="What it was sized on" value={sizedOn} />}
    </li>
  );
}

import type { ChannelShown, NoticesShown } from '../documents.ts';
import { about } from '../state.ts';
import { showAge, showTime } from '../words.ts';
import { Badge, Empty } from './basics.tsx';
import { Table } from './table.tsx';

/** What stands above every view while accounts trade live and nobody is told of anything. */
export function UntoldWarning() {
  const untold = about.value?.untold ?? [];
  if (untold.length === 0) return null;
  return (
    <p class="note alarm" role="alert">
      <strong>
        {untold.join(', ')} {untold.length === 1 ? 'trades' : 'trade'} live, and nobody is told
      </strong>{' '}
      of fills, refusals and alarms: name a channel in <code>notices.channels</code> of relay.config.ts, then
      run <code>npx relay notify set</code>.
    </p>
  );
}

/** Whether somebody is told, and how each channel fares. */
export function Notices({ notices: { channels, toldBesides } }: { readonly notices: NoticesShown }) {
  const isSilent = channels.length > 0 && channels.every(isFailing);
  return (
    <>
      <h2>Notices</h2>
      {isSilent && (
        <p class="note alarm">
          <strong>Nobody is told at present:</strong> no channel works. What happens is kept, and told once
          one does.
        </p>
      )}
      {channels.length === 0 ? (
        <Empty>
          No channel is set: {toldBesides ?? 'nobody is told'}. <code>notices.channels</code> of
          relay.config.ts names them.
        </Empty>
      ) : (
        <Table
          caption="How each channel fares"
          rows={channels}
          keyOf={({ name }) => name}
          columns={[
            { title: 'channel', cell: ({ name }) => name },
            { title: 'state', cell: (channel) => <State channel={channel} /> },
            { title: 'last told', cell: ({ sentAtMs }) => showAge(sentAtMs) },
            { title: 'waiting', align: 'right', cell: ({ waiting }) => waiting ?? '–' },
          ]}
        />
      )}
    </>
  );
}

function isFailing({ isReached, failures }: ChannelShown): boolean {
  return !isReached || failures > 0;
}

function State({ channel }: { readonly channel: ChannelShown }) {
  const { name, isReached, sentAtMs, failures, failure, retryAtMs } = channel;
  if (!isReached)
    return (
      <>
        <Badge tone="alarm">not set up</Badge>{' '}
        {name === 'email' ? (
          'a relay on one machine sends none'
        ) : (
          <>
            run <code>npx relay notify set {name}</code>
          </>
        )}
      </>
    );
  if (failures > 0)
    return (
      <>
        <Badge tone="alarm">fails</Badge> {failures === 1 ? 'once' : `${failures} times in a row`}:{' '}
        {failure ?? 'nobody knows why'}
        {retryAtMs !== null && `; next try at ${showTime(retryAtMs)}`}
      </>
    );
  return sentAtMs === null ? (
    <Badge tone="waiting">nothing told yet</Badge>
  ) : (
    <Badge tone="good">tells</Badge>
  );
}

import type { FolderKind } from '../../lib/host/folder-kind.ts';
import type { HttpResponse } from '../../lib/host/plain-webhook.ts';
import type { Receiving, ReceivingWatch } from './receiving.ts';

/** Responds to GET without a body of the request. */
export type HealthHandler = () => Promise<HttpResponse>;

/** Whether the relay can do its work; asked by monitors, by the watchdog and by whoever is told that it is up. */
export interface Health {
  /** `GET /health`: 200, or 503 while alerts cannot be taken, for whatever reason. */
  readonly respond: HealthHandler;
  /** `GET /ready`: 200, or 503 while alerts are not taken or not executed. */
  readonly respondReady: HealthHandler;
}

/**
 * @param options.version the running release
 * @param options.listHeld the accounts whose signals wait because something must be found out first
 */
export function createHealth(options: {
  readonly receiving: Pick<ReceivingWatch, 'look'>;
  readonly version: string;
  readonly trades: FolderKind;
  readonly listHeld: () => readonly string[];
}): Health {
  const { receiving, version, trades } = options;
  return {
    async respond() {
      const found = await receiving.look();
      const isTaking = canTake(found);
      return respondWith(isTaking, {
        status: isTaking ? 'ok' : 'failing',
        trades,
        version,
        ...describeParts(found),
      });
    },
    async respondReady() {
      const found = await receiving.look();
      // How many, and not which: nobody may find out by this which accounts exist.
      const held = options.listHeld().length;
      const isReady = canTake(found) && held === 0;
      return respondWith(isReady, {
        status: isReady ? 'ready' : 'not_ready',
        trades,
        ...describeParts(found),
        heldAccounts: held,
      });
    },
  };
}

function canTake({ store, secrets }: Receiving): boolean {
  return store === null && secrets === null;
}

/** Without the reasons: they name paths. */
function describeParts({ store, secrets }: Receiving) {
  return {
    store: store === null ? 'writable' : 'unwritable',
    secrets: secrets === null ? 'readable' : 'unreadable',
  };
}

function respondWith(isGood: boolean, body: object): HttpResponse {
  return {
    statusCode: isGood ? 200 : 503,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}

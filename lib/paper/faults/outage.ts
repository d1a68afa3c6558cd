import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Stops a server from listening and starts it again. Meanwhile connections are refused, not just unanswered.
 */
export interface Outage {
  /** A second call postpones the end. `onEnd` is called once the server listens again. */
  begin(durationMs: number, onEnd: () => void): void;
  /** Ends the outage now, if there is one. */
  end(): void;
  /** Closes the server and all its connections. */
  closeForGood(): Promise<void>;
}

const msBetweenTries = 50;

/** @param server must be listening when the first outage begins, and must not be closed elsewhere */
export function createOutage(server: Server, host: string): Outage {
  let phase: 'up' | 'down' | 'rising' = 'up';
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let rising: Promise<void> = Promise.resolve();
  let port = 0;
  const endCallbacks: (() => void)[] = [];

  function rise(): void {
    clearTimeout(timer);
    phase = 'rising';
    const risen = once(server, 'listening');
    server.listen(port, host);
    rising = risen.then(finish, tryLater);
  }

  function finish(): void {
    phase = 'up';
    for (const onEnd of endCallbacks.splice(0)) onEnd();
  }

  /** Another program may have taken the port meanwhile, and may release it again. */
  function tryLater(): void {
    phase = 'down';
    if (!isClosed) timer = setTimeout(rise, msBetweenTries);
  }

  function begin(durationMs: number, onEnd: () => void): void {
    if (isClosed) return;
    if (phase === 'rising') {
      rising.then(() => begin(durationMs, onEnd));
      return;
    }
    endCallbacks.push(onEnd);
    clearTimeout(timer);
    timer = setTimeout(rise, durationMs);
    if (phase === 'up') fall();
  }

  function fall(): void {
    phase = 'down';
    port = (server.address() as AddressInfo).port;
    stopListening();
  }

  function stopListening(): void {
    server.close();
    server.closeAllConnections();
  }

  return {
    begin,
    end() {
      if (phase === 'down') rise();
    },
    async closeForGood() {
      isClosed = true;
      clearTimeout(timer);
      await rising;
      if (!server.listening) return;
      const closed = once(server, 'close');
      stopListening();
      await closed;
    },
  };
}

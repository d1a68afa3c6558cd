import { type ForwardingServer, startForwardingServer } from './forwarding-server.ts';

/** Stands between a function and AWS, and notes what the function asks for. */
export interface CountingProxy extends ForwardingServer {
  /** The operations since the last reset, in the order in which they came. */
  readonly operations: readonly string[];
  reset(): void;
}

/** @param target scheme, host and port of AWS */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const operations: string[] = [];
  const server = await startForwardingServer(({ url = '/', headers }) => {
    operations.push(String(headers['x-amz-target']).split('.').at(-1) ?? '');
    // With the same `Host`, which the signature covers.
    return { url: new URL(url, target).href, headers };
  });
  return {
    ...server,
    operations,
    reset() {
      operations.length = 0;
    },
  };
}

import { type ForwardingServer, startForwardingServer } from './forwarding-server.ts';

/** An address of this machine in place of the URL of a function, which the emulator has under a path of its own. */
export interface PaperDoor extends ForwardingServer {
  /** With a slash at the end, as the URL of a function has it. */
  readonly url: string;
  /** @param target the function's address at the emulator, without a slash at the end */
  leadTo(target: string): void;
}

export async function openPaperDoor(): Promise<PaperDoor> {
  let target = '';
  const server = await startForwardingServer(({ url, headers }) => ({
    url: `${target}${url}`,
    headers: { ...headers, host: new URL(target).host },
  }));
  return {
    ...server,
    url: `${server.url}/`,
    leadTo(address) {
      target = address;
    },
  };
}

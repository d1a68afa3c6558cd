import { connect, isIP, type Socket } from 'node:net';

/** A server, as a URL names it. */
export interface Address {
  /** Name and port, as the header `Host` has them. */
  readonly host: string;
  /** The socket's event after which written bytes leave this machine. */
  readonly readyEvent: 'connect' | 'secureConnect';
  /**
   * Begins to connect.
   *
   * @param onBytes takes what arrives; the bytes are overwritten after it returns
   */
  connect(onBytes: (bytes: Buffer) => void): Socket;
}

/** As large as what one read of the operating system returns at most. */
const readBufferBytes = 64 * 1024;

/** @throws TypeError when the text is not a URL of http or https */
export function parseAddress(baseUrl: string): Address {
  const { protocol, hostname, port, host } = new URL(baseUrl);
  // An IPv6 address has brackets in a URL and none elsewhere.
  const name = hostname.replaceAll(/[[\]]/g, '');
  if (protocol === 'https:')
    return {
      host,
      readyEvent: 'secureConnect',
      connect: createTlsConnect({ host: name, port: Number(port) || 443 }),
    };
  if (protocol !== 'http:') throw new TypeError(`the address ${baseUrl} is neither http nor https`);
  const target = { host: name, port: Number(port) || 80 };
  return {
    host,
    readyEvent: 'connect',
    connect: (onBytes) => connect({ ...target, onread: readInto(onBytes) }).setNoDelay(),
  };
}

/** One buffer per connection, because a new one for each read is most of what reading costs. */
function readInto(onBytes: (bytes: Buffer) => void) {
  const buffer = Buffer.allocUnsafeSlow(readBufferBytes);
  return {
    buffer,
    callback(count: number): boolean {
      onBytes(buffer.subarray(0, count));
      return true;
    },
  };
}

function createTlsConnect(target: { readonly host: string; readonly port: number }): Address['connect'] {
  // Loading node:tls takes milliseconds of a cold start, and a local run against the paper exchange never needs it.
  const tls = process.getBuiltinModule('node:tls');
  // With the session of an earlier connection, the next one needs no certificate and one signature less.
  let session: Buffer | undefined;
  return (onBytes) => {
    const options = {
      ...target,
      // Names of servers only: the extension has no place for an IP address.
      ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
      ALPNProtocols: ['http/1.1'],
      onread: readInto(onBytes),
      rejectUnauthorized: true,
      ...(session === undefined ? {} : { session }),
    };
    return tls
      .connect(options)
      .setNoDelay()
      .on('session', (newest) => {
        session = newest;
      })
      .on('error', () => {
        session = undefined;
      });
  };
}

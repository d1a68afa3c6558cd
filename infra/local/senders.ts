import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { RelayError } from '../../lib/base/errors.ts';
import { tradingViewAddresses } from '../../lib/host/config.ts';

/** Decides by its address who may post alerts, as the resource policy of the API does on AWS. */
export interface SenderCheck {
  /**
   * @param peer the address of the other end of the connection
   * @returns null for a sender that may post; else why not
   */
  refuse(peer: string | undefined, headers: IncomingHttpHeaders): RelayError | null;
}

/** Headers by which a proxy shows itself. A request of this machine itself has none of them. */
const forwardingHeaders = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'forwarded',
  'via',
];

/**
 * TradingView, the given senders and this machine may post. The address of a sender is that of the connection. Only when the
 * connection comes from a proxy that the owner has named, it is what `X-Forwarded-For` says: the last entry that is no such
 * proxy, because whatever stands before it was written by the sender.
 *
 * @throws RangeError for a text that is neither an address nor a range
 */
export function createSenderCheck(options: {
  readonly reverseProxies: readonly string[];
  readonly allowed: readonly string[];
}): SenderCheck {
  const proxies = parseRanges(options.reverseProxies);
  const allowed = parseRanges([...tradingViewAddresses, ...options.allowed]);
  return {
    refuse(peer = '', headers) {
      if (!isForwarded(headers))
        return includes(ownMachine, peer) || includes(allowed, peer) ? null : createRefusal(peer);
      if (!includes(proxies, peer))
        return createRefusal(
          peer,
          `came through a proxy at ${describeAddress(peer)}, which --reverse-proxy does not name`,
        );
      const sender = findSender(headers, proxies);
      if (sender === null)
        return createRefusal(
          peer,
          `came through the proxy at ${peer}, whose X-Forwarded-For names no sender${writeOwn(headers)}`,
        );
      return includes(allowed, sender) ? null : createRefusal(sender);
    },
  };
}

/**
 * @param texts such as `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`
 * @throws RangeError for anything else
 */
export function parseRanges(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', bits, ...more] = text.split('/');
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const length = bits === undefined ? most : Number(bits);
    const isLength = bits === undefined || (/^\d+$/.test(bits) && length <= most);
    if (family === 0 || !isLength || more.length > 0)
      throw new RangeError(`"${text}" is neither an address nor a range like 203.0.113.0/24.`);
    list.addSubnet(address, length, nameFamily(address));
  }
  return list;
}

const ownMachine = parseRanges(['127.0.0.0/8', '::1']);

function isForwarded(headers: IncomingHttpHeaders): boolean {
  return forwardingHeaders.some((name) => headers[name] !== undefined);
}

/** An IPv4 address on a socket of IPv6 counts as what it is. */
function includes(list: BlockList, address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(plain) !== 0 && list.check(plain, nameFamily(plain));
}

function nameFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

function findSender(headers: IncomingHttpHeaders, proxies: BlockList): string | null {
  const entries = String(headers['x-forwarded-for'] ?? '').split(',');
  const sender = entries.map((entry) => entry.trim()).findLast((entry) => !includes(proxies, entry));
  return sender === undefined || isIP(sender) === 0 ? null : sender;
}

/** What a command gets that posts through the proxy on its own machine. */
function writeOwn({ 'x-forwarded-for': forwarded = '' }: IncomingHttpHeaders): string {
  const text = String(forwarded);
  return text.split(',').every((entry) => isIP(entry.trim()) !== 0)
    ? `, but only proxies (${text}); from the machine of the proxy, post to the address of the relay itself`
    : '';
}

function createRefusal(address: string, how = `came from ${describeAddress(address)}`): RelayError {
  return new RelayError('sender_refused', `the request ${how}, and was not read`);
}

function describeAddress(address: string): string {
  return isIP(address) === 0 ? 'an unknown address' : address;
}
